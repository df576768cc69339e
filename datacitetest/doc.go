// Package datacitetest runs DataCite's registration service in memory, for tests of
// programs that use packages reports, dois and mds. Tests need no network and no account:
//
//	func TestPublish(t *testing.T) {
//		srv := datacitetest.NewServer(nil)
//		defer srv.Close()
//		publish(t, srv.MDS(), "10.5072/glacier-7") // the code under test
//		if state := srv.State("10.5072/glacier-7"); state != datacitetest.StateFindable {
//			t.Errorf("the DOI is %q", state)
//		}
//	}
//
// A [Server] is a service, not a mock: usage reports, DOI query and metadata store share
// one set of records, what is written can be read, and states and error codes are those
// of the service in operation. It has no rate limits.
//
// # Clients
//
// [Server.Reports], [Server.DOIs] and [Server.MDS] return clients that are ready to use.
// Code under test that makes its own clients takes [Server.Config], a datacite.Config with
// address and login. All of them wait for milliseconds where others wait for minutes: their
// pauses are ten thousand times shorter, those of options included, such as
// SubmitOptions.MaxProcessing. [Options].WriteTime and Fault.Delay are real. Within
// testing/synctest, where waits take no time, only those between attempts are short.
//
// # Recipes
//
// Begin with records and reports. They are not checked, so a test can store broken ones:
//
//	err := srv.PutRecord(&dois.Record{…})
//	err := srv.PutRecordJSON([]byte(`{"doi":"10.5072/old","client":"other.repo","titles":[{"title":"Glacier"}]}`))
//	id, err := srv.PutReport(&reports.Report{…})
//
// Look at what is stored, and at the requests:
//
//	srv.State("10.5072/old")        // "" if the DOI is unknown
//	srv.Resolve(ctx, "10.5072/old") // the URL that the DOI resolves to
//	report, err := srv.StoredReports()[0].Report()
//	for _, r := range srv.Requests() {
//		fmt.Println(r.Method, r.Path, r.Status, r.Fault)
//	}
//
// Run a test on both behaviours: what the service does, and what the specification says:
//
//	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
//		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour})
//		…
//	}
//
// Lose the response to the first write:
//
//	lost := &datacitetest.Fault{Kind: datacitetest.DropAfter}
//	srv := datacitetest.NewServer(&datacitetest.Options{Faults: datacitetest.First(lost).When(datacitetest.Writes)})
//
// Let three in ten requests fail at random, the same ones for the same seed:
//
//	srv := datacitetest.NewServer(&datacitetest.Options{Faults: datacitetest.Schedule(seed, 0.3)})
//	for err != nil && datacite.Temporary(err) {
//		_, err = srv.MDS().Register(ctx, name, address, doc)
//	}
//
// Wait for a new DOI to resolve, for lists to show a change, or for a token to expire, by
// moving the server's clock:
//
//	srv.Advance(3 * time.Minute)
//	err := mds.WaitResolved(ctx, srv, "10.5072/glacier-7", "https://repo.example.org/7", nil)
//
// Let the requests fail that write a certain record:
//
//	faults := datacitetest.Schedule(seed, 1).WhenSeen(func(r *datacitetest.Request) bool {
//		return bytes.Contains(r.Body, []byte("Glacier"))
//	})
//
// See what becomes of a usage report:
//
//	srv := datacitetest.NewServer(&datacitetest.Options{UsageLag: time.Hour})
//	…
//	srv.ProcessUsage() // without waiting
//	record, err := srv.DOIs().Get(ctx, "10.5072/glacier-7", nil) // ViewCount, DownloadsOverTime, …
//
// Related identifiers, such as those of a new version, become relationships of both records in
// the same way:
//
//	old, err := srv.DOIs().Get(ctx, "10.5072/glacier-7", nil) // Versions, VersionCount, CitationCount, …
//
// Log in otherwise, or as another account:
//
//	cfg := srv.Config()
//	cfg.TokenSource, cfg.Token = nil, srv.Token(srv.Now().Add(time.Hour)) // a token that expires
//	cfg.Password = srv.IssueKey()                                         // an API key
//	err := srv.As("OTHER.REPO").MDS().Hide(ctx, "10.5072/glacier-7")      // datacite.ErrForbidden
//
// See real waits in no time, with testing/synctest. There a server needs NoPort, and time
// begins on 1 January 2000, so that a usage report is for 1999 at the latest:
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
//		defer srv.Close()
//		…
//	})
//
// # Documented and Deployed
//
// A [Deployed] server, the default, does what the service in operation does; a [Documented]
// one follows the [specification]. This is where the service departs from it most; [Rules]
// returns all of it, with evidence:
//
//   - Usage reports: a missing token is 422, an expired one 401. The creator, without regard
//     to case and accents, and the month identify a report. Writes that overlap break it.
//     DOI records show the views and downloads of reports after [Options].UsageLag, and
//     so it is with related records.
//   - DOI query: all words must match, some fields are not searched, filters for provider and
//     client are alternatives, and lists can lag behind ([Options].IndexLag).
//   - Metadata store: PUT /doi before the metadata is 422, an address that is no URL is 200
//     with a complaint, a wrong password can read findable DOIs, and hiding an unknown DOI
//     makes a draft. It reads some names as others; such names are refused here.
//
// What the servers support and this one does not has the status 501, and a text that names the
// row of not-played.md (see [Rules]): a guess could hide a mistake. Among it is XML that is
// not well-formed, which the service in operation stores without some parts. On its port, a request under another name
// than a loopback one is 421, and that of a web page of another host 403: see [Options].Hosts.
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package datacitetest
