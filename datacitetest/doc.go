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
// and errors have its codes. It has no rate limits, and no handles apart from Resolve.
// What it does not play it answers with 501 and a text that says so.
//
// # Clients
//
// Reports, DOIs and MDS return clients of the server's account that are ready to use.
// They pause a millisecond at most before they send something again, whatever the response
// asks for, so that tests with faults are quick. Code under test that makes its own
// clients is given the server's configuration:
//
//	cfg := srv.Config() // a datacite.Config with address, login and short pauses
//	cfg.MaxAttempts = 1
//	client, err := mds.NewClient(cfg)
//
//	cfg.TokenSource, cfg.Token = nil, srv.Token(srv.Now().Add(time.Hour)) // a token that expires
//	client, err := reports.NewClient(cfg)
//
//	cfg.Password = srv.IssueKey() // an API key, until srv.RevokeKey
//	client, err := dois.NewClient(cfg)
//
// With [Options].NoPort the server listens on no port of the machine, and only clients
// with the HTTPClient of its configuration reach it. Inside testing/synctest, where
// waiting takes no time, a server has to be like that: a wait for a real connection never
// ends there. Time begins on 1 January 2000 in it, so a usage report must be for an earlier
// month, such as reports.Month(1999, time.November).
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
// A test begins with what it puts there. That is not checked: a test can put broken
// records, and those of other accounts.
//
//	err := srv.PutRecord(&dois.Record{…})
//	err := srv.PutRecordJSON([]byte(`{"doi":"10.5072/old","client":"other.repo","titles":[{"title":"Glacier"}]}`))
//	id, err := srv.PutReport(&reports.Report{…})
//	id, err := srv.PutReportJSON(data)
//
// In the end it looks at what is there, and at what came in:
//
//	srv.State("10.5072/old")        // datacitetest.StateFindable; "" if the DOI is unknown
//	srv.Names()                     // all DOIs
//	srv.Resolve(ctx, "10.5072/old") // where the global resolver leads
//	for _, r := range srv.StoredReports() {
//		report, err := r.Report()                     // with all its datasets
//		fmt.Println(r.ID, r.ClientID, len(r.Subsets)) // r.Subsets[0].Body is as it came
//	}
//	for _, r := range srv.Requests() {
//		fmt.Println(r.Method, r.Path, r.Status, r.Fault) // r.Header has no credentials, r.Body is as it came
//	}
//
// Metadata are read with a client, such as srv.DOIs().Get.
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
// IndexLag, WriteTime, [Stall], [Crash] and Fault.Behind play what only the service in
// operation does: they have no effect on a Documented server. MaxDatasets has none on a
// Deployed one.
//
// Deployed differs, among other things, in this; datacitetest/deployed-*.md of the module have
// all of it, rule by rule:
//
//   - Usage reports: no token is 422, an expired one 401. A report is identified by its
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
//     lost, and what is read has "?" for each byte beyond ASCII. Trouble
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
// What [First], [Schedule] and [Faults.When] return may count: make it anew for each server.
// Faults can be any function of a request and its number, too:
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
// its [Role]. The first is the server's; [Server.As] is the same server with another's
// clients, tokens and keys:
//
//	srv := datacitetest.NewServer(&datacitetest.Options{Accounts: []datacitetest.Account{
//		{}, // EXAMPLE.REPO
//		{Username: "OTHER.REPO", Prefixes: []string{"10.83000"}},
//	}})
//	other := srv.As("OTHER.REPO")
//	err := other.MDS().Hide(ctx, "10.5072/glacier-7") // datacite.ErrForbidden
//
// A usage report of another account is datacite.ErrConflict to Submit on a Deployed
// server, whose reports show the account. The specification shows none, so a Documented
// server lets it be replaced.
//
// # The clock
//
// The server's clock is [Options].Now, and Advance moves it on: until a DOI resolves
// (ResolveDelay), lists show what was written (IndexLag), or a token expires. How long
// a request takes (Fault.Delay, WriteTime) is time of package time, by which clients go.
//
// # Recipes
//
// A program publishes though an answer is lost after the work was done:
//
//	lost := &datacitetest.Fault{Kind: datacitetest.DropAfter}
//	srv := datacitetest.NewServer(&datacitetest.Options{Faults: datacitetest.First(lost).When(datacitetest.Writes)})
//
// A usage report of several subsets arrives whole though answers are lost.
// reports.Client.Submit waits for minutes before it looks at what is stored, so this is for
// testing/synctest, or for a short MaxProcessing:
//
//	srv := datacitetest.NewServer(&datacitetest.Options{Faults: datacitetest.First(lost).When(datacitetest.Writes)})
//	receipt, err := srv.Reports().Submit(ctx, header, datasets, &reports.SubmitOptions{MaxDatasets: 2, MaxProcessing: time.Millisecond})
//	len(srv.StoredReports()[0].Subsets) // as many as receipt.Subsets
//
// Whatever fails, a program that tries again what is Temporary ends right:
//
//	for seed := range uint64(20) {
//		srv := datacitetest.NewServer(&datacitetest.Options{Faults: datacitetest.Schedule(seed, 0.3)})
//		…
//		for err != nil && datacite.Temporary(err) {
//			_, err = srv.MDS().Register(ctx, name, address, doc)
//		}
//	}
//
// There are too many requests. To see the wait, make a client of your own, inside
// testing/synctest:
//
//	busy := &datacitetest.Fault{Kind: datacitetest.Status, Status: 429, RetryAfter: time.Minute}
//	srv := datacitetest.NewServer(&datacitetest.Options{Faults: datacitetest.First(busy)})
//
// A token has expired, as the client can see:
//
//	cfg := srv.Config()
//	cfg.TokenSource, cfg.Token = nil, srv.Token(srv.Now().Add(-time.Hour))
//	client, err := reports.NewClient(cfg)
//	_, err = client.Submit(ctx, header, datasets, nil) // reports.ErrTokenExpired, before anything is sent
//
// A token has expired by the server's clock alone. A Deployed server does not say why it
// refuses one:
//
//	token := srv.Token(srv.Now().Add(time.Hour))
//	srv.Advance(time.Hour) // reports.ErrTokenExpired; of a Deployed server datacite.ErrUnauthorized
//
// Searching lags behind:
//
//	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, IndexLag: time.Minute})
//	… // what is written now is in no list
//	srv.Advance(time.Minute)
//
// A body is too large, by its bytes as they are sent: of a large usage report compressed
// ones. Each package has its ErrTooLarge:
//
//	srv := datacitetest.NewServer(&datacitetest.Options{MaxBody: 1000, MaxReport: 1000}) // ErrTooLarge
//
// A new DOI does not resolve at once; the server is the [mds.Resolver]. The clock is
// moved, or goes on by itself inside testing/synctest:
//
//	srv.Advance(3 * time.Minute)
//	err := mds.WaitResolved(ctx, srv, "10.5072/glacier-7", "https://repo.example.org/7", nil)
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package datacitetest
