// Package reports stores and reads usage reports: how often the datasets of a
// repository were used in a month. It is a client of interface A of the registration
// service that DataCite operates (see the [specification]).
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
//		log.Print(err) // says what is stored, and what to do
//		os.Exit(1)     // the next run continues from there
//	}
//
// The token is a JSON web token, which the operator issues to members for one year
// (specification §5). An API key is not accepted. Reading needs no token.
//
// # Index
//
//   - To send: [Client.Submit]. It stores exactly the datasets given, each once, and can be
//     run again after any failure. [Client.Create] and [Client.Put] are the single requests
//     of specification §4.1.
//   - To make datasets of rows, such as counts by DOI, metric, access method and country in a
//     table: [Group], with package table for CSV and .xlsx; of a slice: [Source]; of a report in
//     a file: [ReadFile]; of the logs of a web server: package counter.
//   - To check before sending: [Report.Validate], [Report.Findings], [TokenExpiry]. Submit,
//     Create and Put check everything themselves.
//   - To know which counts DOI records will not show as they are: [Report.Findings]; to compare
//     what was stored with what they show, and to mend it: package shown.
//   - To read: [Client.List], [Client.All], [Client.Get]; in constant memory, [Client.Open]
//     and, for files, [NewReader].
//   - To compare the stored report with what was sent: [Client.Verify].
//   - Errors: [datacite.Error] for a failed request, [datacite.ValidationError] for faults in the data,
//     [SubmitError] for a submission that stopped halfway. Test conditions with errors.Is:
//     [datacite.ErrInvalid], [datacite.ErrUnclear], [ErrTokenExpired], [ErrBusy], [ErrBroken].
//   - To test: package datacitetest has the service in memory.
//
// Some time after a report is stored, the service computes the views and downloads of DOI
// records from it, by rules that it does not publish:
//
//   - Of each dataset it shows the regular unique counts of the first performance, under the
//     month of the report.
//   - A number that a corrected report no longer has stays, until a count of 0 replaces it.
//   - The counts of several reports for a month are added up.
//
// Findings, Submit, Create and Put warn of each count that DOI records will not show as it is.
// The code of such a warning is the [shown.Cause] that package shown gives afterwards.
//
// Reads and an uncompressed Put or Create are retried up to Config.MaxAttempts times. A
// compressed POST adds data each time it arrives, and two compressed PUTs at once can break
// the report, so they are sent again only if no connection could be made; after a lost
// response the error matches [datacite.ErrUnclear].
//
// # Several runs
//
// On one machine, a second Submit, Create or Put of the same report fails with [ErrBusy],
// and a run of Submit after one that was killed knows what it left: they share
// SubmitOptions.LockDir. Give
// containers, services with PrivateTmp and several machines a common folder, or let them
// take turns. Otherwise a run sees what the others have stored, and waits while it changes,
// but does not know of a request whose effect is not visible yet.
//
// Submit cannot repair one thing: if the server dies in the middle of a write, the deployed
// service can lose the document of a report, or leave one that nobody can read. Submit ends
// with [ErrBroken] each time. Ask the operator; where the document is gone, a compressed
// [Client.Put] of the whole report writes a new one.
//
// # Where the deployed service differs from the specification
//
//   - It responds to an expired token with 401 instead of 403, and to a missing one with 422.
//   - It responds to a PUT of an existing report with 200 instead of 201.
//   - It finds the report of a POST by the month of the begin date, not by the day, and
//     compares the creator's name without case and accents.
//   - A report must lie within one calendar month, and its release must be "rd1".
//   - It returns a compressed report with empty report-datasets and the data in
//     report-subsets, in no order.
//   - PUT keeps the old value of every missing member of the header, and never changes
//     created-by, report-id, year and month.
//   - It drops the data of an uncompressed body with exception 69. This package never sends
//     one. A report without data is [datacite.ErrIncomplete].
//   - A subset that it shows may not be stored permanently yet, and a gateway's 429, 503 or
//     504 may hide work in progress.
//   - Any account may replace any report. Submit checks the account; Put does not.
//
// datacitetest/deployed-reports.md has each rule, its evidence and its test.
//
// [shown.Cause]: https://pkg.go.dev/github.com/datacite-go/datacite-go/reports/shown#Cause
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package reports
