// Package datacitetest runs the registration service in memory, for tests of programs
// that use packages reports, dois and mds. They need no network and no account:
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
// # Reaching it
//
// Reports, DOIs and MDS are clients of the server's account that are ready to use. A
// program that makes clients of its own is given the URL, [Username] and [Password],
// a Token or a key of IssueKey, and HTTPClient:
//
//	client, err := mds.NewClient(srv.URL, mds.Credentials{Username: datacitetest.Username, Password: datacitetest.Password}, nil)
//
// The server listens on a port of the machine. With [Options].NoPort it does not; then
// only its clients and HTTPClient reach it, and it may live inside testing/synctest,
// where pauses take no time:
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
//		defer srv.Close()
//		…
//	})
//
// It is an [http.Handler], too, which another server can mount.
//
// # Before and after
//
// PutRecord, PutRecordJSON, PutReport and PutReportJSON make the server hold what a
// test begins with, unchecked, be it odd or somebody else's. What it holds at the end
// is seen without a client: State and Names of DOIs, Resolve, StoredReports with their
// subsets, and Requests, which is what came in, without credentials.
//
// # Behaviours
//
// The specification and the service in operation differ in places.
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
//	datacitetest.First(lost)                              // the first answer is lost
//	datacitetest.First(lost).When(datacitetest.Writes)    // that of the first write
//	datacitetest.First(nil, nil, lost)                    // the third
//	datacitetest.Schedule(seed, 0.3)                      // three in ten fail, somehow
//	datacitetest.Schedule(seed, 0.3).When(datacitetest.Writes)
//	datacitetest.First(lost).Or(datacitetest.Schedule(seed, 0.3))
//
// or are any function of the request and its number:
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
// A server has one account, [Username], which may register DOIs under [Prefix].
// [Options].Accounts gives it others, each with its prefixes, the domains of its URLs,
// and its [Role]. [Server.As] is the server as another account uses it:
//
//	srv := datacitetest.NewServer(&datacitetest.Options{Accounts: []datacitetest.Account{
//		{}, // EXAMPLE.REPO
//		{Username: "OTHER.REPO", Prefixes: []string{"10.83000"}},
//	}})
//	other := srv.As("OTHER.REPO")
//	_, err := other.MDS().PutURL(ctx, "10.5072/glacier-7", "https://other.example.org/") // mds.ErrForbidden
//
// # The clock
//
// The server's clock is [Options].Now, and Advance moves it: until a DOI resolves
// (ResolveDelay), lists show what was written (IndexLag), or a token expires. What
// a request takes (Fault.Delay, WriteTime) is time of package time.
//
// # Recipes
//
// The examples of this page are tests of these:
//
//   - An answer is lost after the work was done: First(lost).When(Writes), as above.
//   - A token expires: srv.Token(time.Hour), then srv.Advance(time.Hour).
//   - Searching lags behind: Behaviour: Deployed, IndexLag: time.Minute, then
//     srv.Advance(time.Minute).
//   - Something is too large: MaxBody: 1000 or MaxReport: 1000 make small bodies 413.
//   - Somebody else's DOI, or prefix: Accounts and As.
//   - Too many requests: First(&Fault{Kind: Status, Status: 429, RetryAfter: time.Minute}).
//   - A new DOI does not resolve yet: srv is the [mds.Resolver] for
//     [mds.WaitResolved], and srv.Advance(3 * time.Minute) ends the wait.
//   - A large report arrives whole: srv.StoredReports()[0].Subsets.
package datacitetest
