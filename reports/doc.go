// Package reports stores and reads usage reports: how often the datasets
// of a repository were used, month by month, in the service's JSON. It is a client
// of interface A of the registration service whose public deployment is DataCite; the
// [specification] describes it.
//
//	client, err := reports.NewClient(datacite.Config{Service: datacite.Production, Token: token})
//	if err != nil {
//		return err
//	}
//	header := reports.Header{
//		ReportName: "Dataset Report", ReportID: "dsr", Release: reports.ReleaseRD1,
//		CreatedBy: "My Repository", Created: reports.Day(time.Now()),
//		ReportingPeriod: reports.Month(2026, time.October),
//	}
//	receipt, err := client.Submit(ctx, header, datasets, nil) // datasets: iter.Seq2[reports.Dataset, error]
//
// # Sending
//
// [Client.Submit] is what most programs need: it takes any number of
// datasets, one by one, from a database or a file, and makes the service's report of
// that creator and month hold exactly these, each once. It compresses, cuts the
// report into subsets of at most 50,000 datasets and 16 MB, adds the exception that
// compressed reports carry, and needs little memory whatever the number.
//
// [Group] makes the datasets of rows: counts by DOI, metric, access method and
// country, as tables and databases have them, in any order.
//
// Nothing is sent before all has been read and checked. Then Submit looks at what
// the service holds, and hashes the data: it does nothing if that is the report, goes
// on where an earlier run stopped, and starts over otherwise. When an answer is lost, it looks
// before it sends again, since the service stores a subset each time it arrives.
// It first waits until the service has certainly finished, since two writes at once
// make a report permanently unreadable. Lost answers are common for full subsets,
// which take the service longer than many gateways wait; SubmitOptions.Progress
// gives the reason and the end of each wait. A submission that cannot finish is a
// [*SubmitError] that says what is stored. A cron job only has to run it again:
//
//	receipt, err := client.Submit(ctx, header, datasets, nil)
//	if err != nil {
//		log.Print(err) // says what is stored, and what to do
//		os.Exit(1)     // the next run goes on from there
//	}
//
// A second run on the same machine fails with [ErrBusy] while the first is alive, of
// whatever account, and a later run knows what the one before left: they share a
// folder, SubmitOptions.LockDir. Containers, services with PrivateTmp and further
// machines have to be told of a common one, or take turns. Without one, a run sees
// what other programs have stored and waits while it changes; of a request whose
// effect does not show yet it cannot know.
//
// What Submit cannot mend it reports: when the server dies in the middle of a write,
// the deployed service can lose the document of a report, which nobody but its
// operator can then read or replace ([ErrBroken]).
//
// [Client.Create] and [Client.Put] are the two requests of specification §4.1
// for reports that fit into one. The service holds one report for each creator
// and begin date: Create returns the one that is there and says so
// ([Stored].Existing), Put replaces it.
//
// Everything is validated before it is sent, because the service reports some
// faults late or never, and may have replaced the stored report by then. All faults
// are returned at once, each with its place, as a [*ValidationError].
//
// The service lets any account replace any report. Submit compares the account
// that a stored report shows, if it shows one, with that of the token before it sends
// anything. Put does not: the caller chooses the id.
//
// # Reading
//
// [Client.List] returns one page of the reports' headers and [Client.All] walks
// through all of them. [Client.Get] returns one report with its datasets,
// wherever the service keeps them: in the report, or compressed in subsets, whose
// checksums are checked. [Client.Open] yields them one by one, in constant memory
// ([Reader.Datasets], or [Reader.Scan], which is faster and lends each dataset for
// one iteration). [Client.WithMaxReport] bounds what is read.
// [Client.Verify] compares what is stored with a [Receipt]. Reading needs no
// credentials.
//
// [NewReader] and [ReadFile] read a report in a file, in any shape in which the
// service has kept reports over the years. Many programs wrote them, so numbers
// as strings, strings as numbers, missing and unknown members are accepted.
//
// # Authentication
//
// Writing needs a token, a JSON web token that the operator issues to members.
// It is valid for one year (specification §5); [TokenExpiry] tells when it expires.
// Give it as Config.Token, or let Config.TokenSource fetch it for
// each write. It is sent over HTTPS only, to the host of the base URL only, and
// appears in no error and no log. The API keys that the deployed service issues for
// the other interfaces are not taken here, and not sent: one as Token is a
// [*datacite.FieldError], one from TokenSource [datacite.ErrUnauthorized].
//
// # Errors
//
// A request that failed is an [*datacite.Error], which says what was asked, where, and
// why. Ask for conditions with errors.Is:
//
//	switch {
//	case errors.Is(err, reports.ErrTokenExpired): // ask the operator for a new one
//	case errors.Is(err, datacite.ErrInvalid): // the data are invalid: found here or by the service
//	case errors.Is(err, datacite.ErrUnclear): // sent, but it is unknown whether it took effect
//	}
//
// Idempotent requests are sent again after a lost connection or a
// failure of the service, up to MaxAttempts times with growing pauses: reads,
// Put, and an uncompressed Create. A compressed POST adds data each time it
// arrives, so it is sent again only if the connection could not be made. After a lost
// answer, or a 429 or 5xx, which a gateway may return while the service is still
// working, its error matches [datacite.ErrUnclear].
//
// # Testing
//
// Package datacitetest has the service in memory, and a client for it. Tests need no
// network:
//
//	srv := datacitetest.NewServer(nil)
//	defer srv.Close()
//	client := srv.Reports()
//
// # Where the deployed service differs from its specification
//
//   - It answers an expired token with 401 instead of 403, and a missing one with
//     422. [ErrTokenExpired] and [datacite.ErrUnauthorized] cover both: the token's own
//     expiry tells them apart.
//   - It answers a PUT of an existing report with 200 instead of 201.
//   - It finds the report of a POST by the month of the begin date, not by the
//     day, and without regard to case and accents in the creator's name.
//   - Reports must lie within one calendar month, and release must be "rd1".
//   - A compressed report comes back with empty report-datasets and its data in
//     report-subsets, which the specification does not mention, and in no order.
//   - PUT keeps the old value of every member of the header that is left out, and
//     never changes created-by, report-id, year and month. The methods here send
//     every member.
//   - Exception 69 on an uncompressed body makes it drop the data. The methods
//     here never send that. A report without data is [datacite.ErrIncomplete].
//   - A subset that is shown may not be stored permanently yet, and a gateway's 429,
//     503 or 504 may hide work in progress.
//
// Each such rule, with the evidence for it and the test that shows it, is in
// datacitetest/deployed-reports.md of this module.
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package reports
