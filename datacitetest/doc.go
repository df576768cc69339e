// Package datacitetest runs DataCite's registration service in memory, for tests of
// programs that use packages reports, dois and mds. Tests need no network and no account:
//
//	func TestPublish(t *testing.T) {
//		srv := datacitetest.NewServer(nil)
//		defer srv.Close()
//		publish(t, srv.MDS(), "10.5072/glacier-7") // the code under test
//		if state := srv.State("10.5072/glacier-7"); state != "findable" {
//			t.Errorf("the DOI is %q", state)
//		}
//	}
//
// A [Server] is a service, not a mock: usage reports, DOI query and metadata store share
// one set of records, so written data can be read. States and error codes are those of the
// service in operation. There are no rate limits.
//
// # Clients
//
// [Server.Reports], [Server.DOIs] and [Server.MDS] return clients that are ready to use.
// If the code under test makes its own clients, give it [Server.Config], a datacite.Config
// with address and login.
//
// Pauses of all these clients, including those set by options such as
// SubmitOptions.MaxProcessing, are divided by 10,000. [Options].WriteTime and Fault.Delay
// are not. Within testing/synctest, where waits take no time, only the pauses between
// attempts are shortened.
//
// # Recipes
//
// Store records and reports before the test. They are not checked, so a test can store
// broken ones:
//
//	err := srv.PutRecord(&dois.Record{…})
//	err := srv.PutRecordJSON([]byte(`{"doi":"10.5072/old","client":"other.repo","titles":[{"title":"Glacier"}]}`))
//	id, err := srv.PutReport(&reports.Report{…})
//
// Read the stored data, and the requests:
//
//	srv.State("10.5072/old")        // "" if the DOI is unknown
//	srv.Resolve(ctx, "10.5072/old") // the URL that the DOI resolves to
//	report, err := srv.StoredReports()[0].Report()
//	for _, r := range srv.Requests() {
//		fmt.Println(r.Method, r.URL, r.Status, r.Fault)
//	}
//
// Share a server between tests: fill it once, and reset it before each test. Faults change while
// it runs:
//
//	srv.Checkpoint() // of the records that all tests need
//	…
//	srv.Reset()
//	srv.SetFaults(datacitetest.First(lost).When(datacitetest.Writes))
//
// Wait for a request of the code under test:
//
//	r, err := srv.AwaitRequest(ctx, func(r *datacitetest.Request) bool { return r.Method == "PUT" })
//
// Run a test against both behaviours, the deployed service and the specification:
//
//	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
//		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour})
//		…
//	}
//
// Lose the response to the first write:
//
//	lost := &datacitetest.Fault{Kind: datacitetest.FaultDropAfter}
//	srv := datacitetest.NewServer(&datacitetest.Options{Faults: datacitetest.First(lost).When(datacitetest.Writes)})
//
// Let three in ten requests fail at random. The same seed selects the same requests:
//
//	srv := datacitetest.NewServer(&datacitetest.Options{Faults: datacitetest.Schedule(seed, 0.3)})
//	for range 10 {
//		if _, err = srv.MDS().Register(ctx, name, address, doc, nil); !datacite.Temporary(err) {
//			break // done, refused, or ctx has ended
//		}
//	}
//
// Move the server's clock, so that a new DOI resolves, lists show a change, or a token
// expires:
//
//	srv.Advance(3 * time.Minute)
//	url, err := srv.Resolve(ctx, "10.5072/glacier-7")
//
// Let DOI records show the counts of a usage report:
//
//	srv := datacitetest.NewServer(&datacitetest.Options{UsageLag: time.Hour})
//	…
//	srv.ProcessUsage() // without waiting
//	record, err := srv.DOIs().Get(ctx, "10.5072/glacier-7", nil) // ViewCount, DownloadsOverTime, …
//
// In the same way, related identifiers, such as that of a new version, become relationships
// of both records:
//
//	old, err := srv.DOIs().Get(ctx, "10.5072/glacier-7", nil) // Versions, VersionCount, CitationCount, …
//
// Try code that handles records of all kinds, each with another one:
//
//	for seed := range uint64(100) {
//		page, err := render(datacitetest.RandomRecord(seed)) // the code under test
//		…
//	}
//
// Use another kind of login, or another account:
//
//	cfg := srv.Config()
//	cfg.TokenSource, cfg.Token = nil, srv.Token(srv.Now().Add(time.Hour)) // a token that expires
//	cfg.Password = srv.IssueKey()                                         // an API key
//	err := srv.As("OTHER.REPO").MDS().Hide(ctx, "10.5072/glacier-7")      // datacite.ErrForbidden
//
// Serve https, for code that accepts nothing else. Clients made from srv.Config() trust the
// server; [Server.CA] is for others:
//
//	srv := datacitetest.NewServer(&datacitetest.Options{TLS: true, Hosts: []string{"api.test"}})
//
// Test waits at their real length in no time, with testing/synctest. The server needs
// NoPort. Time begins on 1 January 2000, so usage reports must be for 1999 or earlier:
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
//		defer srv.Close()
//		…
//	})
//
// # Documented and Deployed
//
// A [Deployed] server, the default, behaves like the service in operation; a [Documented]
// server follows the [specification]. These are the main differences; [Rules] returns all of
// them, with evidence:
//
//   - Usage reports: the status is 422 without a token, and 401 with an expired token. A
//     report is identified by its month and its creator, ignoring case and accents.
//     Overlapping writes break a report. DOI records show views, downloads and related
//     records after [Options].UsageLag.
//   - DOI query: all words must match, some fields are not searched, filters for provider and
//     client are alternatives, and lists can lag behind ([Options].IndexLag).
//   - Metadata store: the status of PUT /doi is 422 before the metadata are sent, and 200 with
//     an error message if the address is not a URL. Findable DOIs can be read with a wrong
//     password. Hiding an unknown DOI makes a draft.
//
// A Server does not guess, since a guess could hide a mistake in a client. It refuses these
// requests:
//
//   - 501: requests that the servers support but a Server does not, and XML that is not well
//     formed, of which the service in operation would store a part. The response says why, and
//     names the row of unsupported.md (see [Rules]).
//   - 501: names that the metadata store would change into other names.
//   - 421 and 403: requests to the port under a host name that is not a loopback name, and
//     requests of web pages of other hosts (see [Options].Hosts).
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package datacitetest
