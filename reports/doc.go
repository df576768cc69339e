// Package reports stores and reads usage reports: how often the datasets of a
// repository were used in a month. It is a client of DataCite's Usage Reports API,
// interface A of the [specification].
//
// Send a report of any size:
//
//	client, err := reports.NewClient(datacite.Config{Service: datacite.Production, Token: token})
//	if err != nil {
//		return err
//	}
//	header := reports.NewHeader("My Repository", reports.Day(time.Now()), reports.Month(2026, time.October))
//	receipt, err := client.Submit(ctx, header, datasets, nil) // datasets: iter.Seq2[reports.Dataset, error]
//	if err != nil {
//		log.Print(err) // tells how much is stored, and how to continue
//		os.Exit(1)     // the next run continues from there
//	}
//
// The token is a JSON web token, which the operator issues to members for one year
// (specification §5). An API key is not accepted. Reading needs no token.
//
// # What to use
//
//   - Send: [Client.Submit]. It stores exactly the given datasets, each once, and can be run
//     again after any failure. [Client.Create] and [Client.Put] are the single requests of
//     specification §4.1.
//   - Make datasets: [Group] from rows of counts by DOI, metric, access method and country;
//     [Source] from a slice; [ReadFile] from a report file; package counter from logs.
//   - Check before sending: [Report.Validate], [Report.Findings], [TokenExpiry]. Submit, Create
//     and Put do these checks themselves.
//   - Read: [Client.List], [Client.All], [Client.Get]; in constant memory, [Client.Open] and,
//     for files, [NewReader].
//   - Compare the stored report with your data: [Client.Verify].
//   - Compare stored reports with the counts that DOI records show, and repair the differences:
//     package shown.
//   - Test: package datacitetest has the service in memory.
//
// # Sending a report
//
// [Client.Submit] looks at the header, the token, TempDir and LockDir first: what is wrong with them is
// an error before the source is read. Then it reads the source to its end, checks and compresses each
// dataset, and keeps the subsets in a temporary file. Identifiers that the service cannot read are
// normalised to the bare DOI and moved to the front. Exception 69, which compressed reports need, is
// added to the header.
//
// Then it compares the data with the stored report. It sends nothing if they are the same, even if
// Header.Created is not, continues where an earlier run stopped, or starts over: a PUT replaces the
// stored report by the first subset, and a POST adds each further one (specification §4.1, Large
// reports, 4). Each POST that arrives adds its subset, and two writes at the same time make a report
// permanently unreadable. So after a lost response Submit reads the stored report before it sends
// anything else, and waits until MaxProcessing has passed, unless the service shows that it has
// finished: the deployed service takes 20 to 50 seconds for a full subset on an otherwise idle machine,
// and several times as long under load. Submit gives up after MaxOutage, which begins with the first
// request that fails and runs through attempts and pauses; a slow response is no failure. What another
// host says, such as a login page, is an error at once. A report is unreadable while another program
// writes to it, so if MaxOutage is less than MaxProcessing, Submit never returns [ErrBroken]. A wait
// that may last longer than the token is valid is a warning before it begins, unless Config.TokenSource
// may have another token by then.
//
// The service lets any account replace any report. Submit compares the account, the creator and
// the month of the stored report, as far as it shows them, with those of the token and the
// header; if they differ, it sends nothing and the error matches [datacite.ErrConflict]. The
// name of the creator and the report id of a stored report never change, although the service
// treats "repo" like "Repo". If they differ, Warn is called, and Receipt.Header has the stored
// values.
//
// The options that change what is sent, or refuse it:
//
//   - MergeRepeats adds up datasets with the same DOI that follow one another, as in a source
//     that is sorted by DOI. Everything except the counts is taken from the first of them. Datasets
//     with different or several periods cannot be merged. Any other repeated DOI is a fault: consumers
//     of the report keep one entry for each DOI.
//   - AllowInconsistent sends, in a month and for one access method, more unique than total counts,
//     more requests than investigations, or counts by country that exceed the whole count.
//   - ZeroDropped sends zeros, in datasets of their own, for all numbers that an earlier version had and
//     the data lack: without them DOI records continue to show these numbers, and Warn is called for
//     each. They are kept in LockDir from before the first request until the data or a zero replace
//     them, so a failed run loses none, and a later run with ZeroDropped can still send the zeros.
//     Later versions keep the zeros until the data have the numbers again.
//   - RefuseLower refuses a report with lower counts than the stored one: a log may have been missing.
//     Zeros for dropped numbers count as lower, too. A run that continues an earlier run of the same
//     data is not refused. A damaged stored report is compared as far as it can be read.
//   - CompareOthers and RefuseOthers find the same datasets in other reports of the account, as when the
//     name of the creator has changed. What cannot be read for that is a warning, and with RefuseOthers an error.
//
// # What DOI records show
//
// Some time after a report is stored, the service computes the views and downloads of DOI
// records from it, by rules that it does not publish:
//
//   - For each dataset it shows the regular unique counts of the first performance, under the
//     month of the report.
//   - If a corrected report no longer contains a count, records keep showing the old number
//     until a count of 0 replaces it.
//   - The counts of several reports for a month are added up.
//
// Findings, Submit, Create and Put warn about each count that DOI records will not show
// unchanged. The code of such a warning is the cause that package shown gives afterwards.
//
// # Errors and retries
//
// The errors are [datacite.Error] for a failed request, [datacite.ValidationError] for faults
// in the data, and [SubmitError] for a submission that stopped halfway. Test for conditions
// with errors.Is: [datacite.ErrInvalid], [datacite.ErrUnclear], [ErrTokenExpired], [ErrBusy],
// [ErrBroken].
//
// Reads and an uncompressed Put or Create are retried, up to Config.MaxAttempts attempts. A
// compressed one is retried only if no connection could be made; after a lost response the error
// matches [datacite.ErrUnclear].
//
// # Several runs
//
// Runs on one machine share a folder, SubmitOptions.LockDir. It holds a lock and a record of the last
// request for each report. While a report is being sent, a second Submit, Create or Put of it, of any
// account, fails with [ErrBusy]; and after a run was killed, the next Submit waits until its last request
// must have ended. "" means the folder in the environment variable DATACITE_LOCK_DIR, or else
// /tmp, regardless of TMPDIR (%ProgramData% on Windows), which all accounts of the machine share; for a
// server of package datacitetest, a folder of its own, removed with it. If several accounts write to
// the folder, it must have the sticky bit (mode 1777) like /tmp; then an account can delay the runs
// of others, but not harm them. A folder whose files other accounts could replace is refused.
//
// For each account, the folder also holds notes on earlier versions: usually a few bytes, as much as the
// compressed report while a report is replaced, and afterwards the numbers that records continue to
// show. If the record is missing, or another program or account has written the report since, Warn is
// called and Receipt.EarlierUnknown is true. Records and notes are removed after 400 days.
//
// A container, or a systemd service with PrivateTmp, has a /tmp of its own. Give them, and several
// machines, a common folder that persists, or run them one after the other. Otherwise a run sees
// the data that the others have stored, and waits while the data change, but it does not know of
// a request whose effect is not visible yet.
//
// If the server dies in the middle of a write, the deployed service can lose the document of a
// report, or leave a document that nobody can read. Submit cannot repair this, and ends with
// [ErrBroken] each time. Ask the operator. If the document is gone, a compressed [Client.Put]
// of the whole report writes a new document.
//
// # Where the deployed service differs from the specification
//
//   - It responds to an expired token with 401 instead of 403, and to a missing one with 422.
//   - It responds to a PUT of an existing report with 200 instead of 201.
//   - It finds the report of a POST by the month of the begin date, not by the day, and
//     compares the creator's name without case and accents.
//   - A report must lie within one calendar month, and its release must be "rd1".
//   - It returns a compressed report with empty report-datasets and the data in
//     report-subsets, in no particular order.
//   - PUT keeps the old value of every header member that is missing, and never changes
//     created-by, report-id, year and month.
//   - It drops the data of an uncompressed body with exception 69. This package never sends
//     such a body. Reading a report without data returns [datacite.ErrIncomplete].
//   - A subset in a response may not be stored permanently yet.
//   - While a gateway answers 429, 503 or 504, the service may still be working on the request.
//   - Any account may replace any report. Submit checks the account; Put does not.
//
// datacitetest/evidence/deployed-reports.md lists all rules, with evidence and tests.
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package reports
