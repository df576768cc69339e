// Package datacitetest runs the registration service in memory, for tests of programs
// that use packages reports, dois and mds. Such tests need no network and no account:
//
//	func TestPublish(t *testing.T) {
//		srv := datacitetest.NewServer(nil)
//		defer srv.Close()
//		publish(t, srv.MDS(), "10.5072/glacier-7") // what is tested
//		if state := srv.State("10.5072/glacier-7"); state != datacitetest.StateFindable {
//			t.Errorf("the DOI is %q", state)
//		}
//	}
//
// A [Server] is a service rather than a mock: the three interfaces are over one set
// of records, what is written can be read, states change as the specification says,
// and errors have its codes. It is simpler than the real one in what it does not keep:
// no rate limits, few facets, no handles apart from Resolve.
//
// # Clients
//
// Reports, DOIs and MDS return clients of the server's account that are ready to use.
// They send again what may be sent again after a millisecond, so that tests with
// faults are quick. A program that makes its own client is given the URL, [Username]
// and [Password], or a Token, or a key of IssueKey:
//
//	creds := mds.Credentials{Username: datacitetest.Username, Password: datacitetest.Password}
//	client, err := mds.NewClient(srv.URL, creds, nil)
//
// The server listens on a port of the machine. With [Options].NoPort it does not: then
// only its clients reach it, and others whose HTTPClient is the server's. Such a server
// may live inside testing/synctest, where waiting takes no time, and where it is the
// year 2000:
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
//		defer srv.Close()
//		…
//	})
//
// A server is an [http.Handler], too, for a server of your own.
//
// # What the server holds
//
// PutRecord, PutRecordJSON, PutReport and PutReportJSON store what a test begins with.
// Nothing is checked, so it may be odd, or somebody else's. To look at what the server
// holds takes no client: State and Names of DOIs, Resolve, StoredReports with their
// subsets. Requests are what came in, without credentials.
//
// # Behaviours
//
// The [specification] and the service in operation differ in places.
// [Options].Behaviour says which of the two a server follows: [Documented], the
// default, keeps to the specification, and [Deployed] does what the service does,
// flaws included. A program that works with both works:
//
//	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
//		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour})
//		…
//	}
//
// Deployed differs, among other things, in this:
//
//   - Usage reports: no token is 422, an expired one 401. A report is told by its
//     creator, in any case and without accents, and by year and month. Reports
//     come with report-subsets, in no order that counts, and sent compressed with
//     no datasets. A PUT does not ask whose report it is, and keeps the members of
//     the header that it leaves out. Bad dates and bad gzip are 500. A compressed
//     PUT that is refused has destroyed what was there, and so has code 69 on
//     plain JSON. Writes that overlap break a report for good
//     ([Options].WriteTime).
//   - DOI query: words without an operator must all match, identifiers of names
//     are not searched by default, some names of fields find nothing, filters for
//     provider and client are alternatives, an account sees the drafts of others
//     in lists, groups of samples are 500, and lists may lag behind
//     ([Options].IndexLag).
//   - Metadata store: PUT /doi before the metadata is 422, what is no URL is 200
//     with a complaint, a wrong password still reads findable DOIs and the URLs of
//     all, GET /metadata is never 204, DELETE /metadata of an unknown DOI makes a
//     draft. A name in a path reaches the DOI that several decodings and foldings
//     make of it: "//", "..", "#", "?", "%", accents and ligatures lead to another.
//     XML that is broken is repaired and taken, what follows a lone "&" or "<" is
//     lost, and what is read has "?" for every byte that is not ASCII. Trouble
//     behind the store looks like a refusal ([Fault].Behind).
//
// # Faults
//
// [Options].Faults makes requests fail: connections that drop before, while and after
// the work is done, answers that break off or are late, pages of a load balancer. A
// Deployed server can also halt or die in the middle of its work on a usage report:
// [Stall] and [Crash], at a [Step]. Faults are made of few parts:
//
//	lost := &datacitetest.Fault{Kind: datacitetest.DropAfter}
//	datacitetest.First(lost)                                      // the first answer is lost
//	datacitetest.First(nil, nil, lost)                            // the third
//	datacitetest.First(lost).When(datacitetest.Writes)            // that to the first write
//	datacitetest.Schedule(seed, 0.3)                              // three in ten requests fail, at random
//	datacitetest.Schedule(seed, 0.3).When(datacitetest.Writes)    // three in ten writes
//	datacitetest.First(lost).Or(datacitetest.Schedule(seed, 0.3)) // the first answer is lost, then at random
//
// or are any function of a request and its number:
//
//	func(n int, r *http.Request) *datacitetest.Fault { // the metadata store is down
//		if strings.HasPrefix(r.URL.Path, "/metadata") {
//			return &datacitetest.Fault{Kind: datacitetest.Status, Status: 502}
//		}
//		return nil
//	}
//
// # Accounts
//
// A server has one account, [Username], which may register DOIs under [Prefix], unless
// [Options].Accounts names others: each with its prefixes, the domains of its URLs, and
// its [Role]. The server is used by the first, and with [Server.As] by another:
//
//	srv := datacitetest.NewServer(&datacitetest.Options{Accounts: []datacitetest.Account{
//		{}, // EXAMPLE.REPO
//		{Username: "OTHER.REPO", Prefixes: []string{"10.83000"}},
//	}})
//	other := srv.As("OTHER.REPO")
//	err := other.MDS().Hide(ctx, "10.5072/glacier-7") // mds.ErrForbidden
//
// # The clock
//
// The server's clock is [Options].Now, and Advance moves it on: until a DOI resolves
// (ResolveDelay), lists show what was written (IndexLag), or a token expires. How long
// a request takes (Fault.Delay, WriteTime) is time of package time.
//
// # Recipes
//
// The examples have them in full.
//
//   - An answer is lost after the work was done, and the program publishes all the
//     same: Faults: First(lost).When(Writes), as above.
//   - The same for a usage report: also NoPort, and inside testing/synctest, as
//     reports.Client.Submit waits for minutes until it looks what was stored.
//   - Too many requests: First(&Fault{Kind: Status, Status: 429, RetryAfter: time.Minute}).
//   - A token expires: srv.Token(time.Hour), then srv.Advance(time.Hour).
//   - Searching lags behind: Behaviour: Deployed, IndexLag: time.Minute, then
//     srv.Advance(time.Minute).
//   - A body is too large, 413: MaxBody: 1000, or MaxReport: 1000.
//   - Somebody else's DOI: Accounts and As, or "client" in PutRecordJSON.
//   - A new DOI does not resolve yet: srv is the [mds.Resolver] for
//     [mds.WaitResolved], and srv.Advance(3*time.Minute) ends the wait.
//   - A large report arrives whole: srv.StoredReports()[0].Subsets.
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package datacitetest
