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
//   - Make datasets: [Group] from rows of counts by DOI, metric, access method and country, which
//     package table reads from CSV and .xlsx; [Source] from a slice; [ReadFile] from a report
//     file; package counter from logs.
//   - Check before sending: [Report.Validate], [Report.Findings], [TokenExpiry]. Submit, Create
//     and Put do these checks themselves.
//   - Read: [Client.List], [Client.All], [Client.Get]; in constant memory, [Client.Open] and,
//     for files, [NewReader].
//   - Compare the stored report with your data: [Client.Verify].
//   - Compare stored reports with the counts that DOI records show, and repair the differences:
//     package shown.
//   - Test: package datacitetest has the service in memory.
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
// unchanged. The code of such a warning is the [shown.Cause] that package shown gives
// afterwards.
//
// # Errors and retries
//
// The errors are [datacite.Error] for a failed request, [datacite.ValidationError] for faults
// in the data, and [SubmitError] for a submission that stopped halfway. Test for conditions
// with errors.Is: [datacite.ErrInvalid], [datacite.ErrUnclear], [ErrTokenExpired], [ErrBusy],
// [ErrBroken].
//
// Reads and an uncompressed Put or Create are retried, up to Config.MaxAttempts attempts. A
// compressed POST adds data each time it arrives, and two simultaneous compressed PUTs can
// break the report. They are retried only if no connection could be made; after a lost
// response the error matches [datacite.ErrUnclear].
//
// # Several runs
//
// Runs on one machine share a folder, SubmitOptions.LockDir. While a report is being sent, a
// second Submit, Create or Put of it fails with [ErrBusy]; and after a run was killed, the
// next Submit knows its last request. Give containers, services with PrivateTmp and several
// machines a common folder, or run them one after the other. Otherwise a run sees the data
// that the others have stored, and waits while the data change, but it does not know of a
// request whose effect is not visible yet.
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
// datacitetest/deployed-reports.md lists all rules, with evidence and tests.
//
// [shown.Cause]: https://pkg.go.dev/github.com/datacite-go/datacite-go/reports/shown#Cause
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package reports
