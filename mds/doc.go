// Package mds registers DOIs with DataCite: their metadata, and the URLs they
// lead to. It is an independent client of the metadata store, which is
// interface C of the [specification].
//
//	client, err := mds.NewClient(datacite.Config{Service: datacite.Test, Username: "EXAMPLE.REPO", Password: password})
//	if err != nil {
//		return err
//	}
//	doc := mds.XML(record) // or mds.NewDocument for a typed record
//	done, err := client.Register(ctx, "10.5072/glacier-7", "https://repo.example.org/glacier/7", doc)
//	if err != nil {
//		return err
//	}
//	fmt.Println(done.DOI, done.Change, done.State) // 10.5072/glacier-7 created findable
//
// # Authentication
//
// Every request carries the name and password of a member's account
// (specification §5), so [NewClient] requires them. They travel over HTTPS only,
// with plain HTTP for loopback hosts alone, never follow a redirect to another
// host, and appear in no error, log or print. DOIs can be registered only under
// the prefixes assigned to the account; [Client.CheckAccess] says whether one
// is, without writing anything.
//
// The deployed service issues API keys to repositories. A key of the account takes
// the place of the password; it can do everything except list the account's DOIs
// ([Client.DOIs]). The store also accepts a key as user name, for reading and for
// existing DOIs but not for new ones, and repeats it in its answers; so NewClient
// refuses one there. A key does not expire. One that was revoked is a wrong
// password.
//
// # States
//
// A DOI is a draft, registered or findable (specification §3.1):
//
//	           PutMetadata, Mint             PutURL
//	(no DOI) ────────────────────▶ draft ──────────────▶ findable
//	    ▲                            │                   │      ▲
//	    └────────────────────────────┘              Hide │      │ Show, PutMetadata
//	              DeleteDraft                            ▼      │
//	                                                    registered
//
// A draft is not public and can be deleted. A registered DOI resolves and is not
// found by searching; a findable one is. Neither can be deleted. [Client.State]
// returns what this interface shows of the state.
//
// # Two-step registration
//
// Metadata come first, the URL second; the URL without metadata is
// [ErrMetadataMissing]. [Client.Register] takes both steps, reads back what it
// wrote, and says what happened. If the second step fails, the error is a
// [*HalfRegisteredError]: the DOI is a draft then, and running Register again
// finishes the work. [Client.Ensure] writes only what differs, and
// [Client.RegisterAll] does so for many DOIs. [Client.Mint] stores metadata under
// a new name of a prefix.
//
// A new DOI resolves after a delay of usually a few minutes (specification §8);
// [WaitResolved] waits for it.
//
// # Names
//
// Methods take a DOI name in every form that package doi reads. Those that write
// refuse names that could not be registered today (specification §2.3, §8), so
// that a typing error does not become a DOI. For older DOIs with other
// characters there is [Client.WithOldNames]. All refuse names that would reach
// another DOI on the deployed service, whatever the options.
//
// # Metadata
//
// A [Document] is metadata as bytes. Package metadata writes, reads and checks the XML;
// [Detect] finds out which of the other formats something is in. XML that is not well
// formed is refused, because the service would repair it and keep only a part.
// Registration.Altered names what the service stores differently in spite of that.
//
// # Errors
//
// A fault in what was given is a [*datacite.FieldError], and nothing was sent. What the
// service refuses is an [*datacite.Error] with the status, the service's text, and for
// metadata the element and line. Both answer errors.Is:
//
//	switch {
//	case errors.Is(err, mds.ErrMetadataMissing): // PutMetadata first
//	case errors.Is(err, datacite.ErrForbidden):       // not our prefix, not our DOI, or a failure of the service
//	case datacite.Temporary(err):                     // try again later
//	}
//
// # What may be sent twice
//
// Every request but those of [Client.MintOnServer] and [Client.AddMedium] has the
// same effect sent once or twice. It is sent again, up to Config.MaxAttempts
// times in all, when an answer got lost, and when the service or a gateway failed
// or was overloaded (403, 408, 429, 5xx but 501). A write that ends with one of these in spite
// of that matches [datacite.ErrUnclear], as a gateway may give up on work that goes on
// behind it. Call again, or look; after [Client.Mint], go on with the name that it
// returned.
//
// The other two add something each time. They are sent again only when no
// connection could be made, so a single 403, 429 or 503 is an error. It matches
// datacite.ErrUnclear besides [datacite.ErrForbidden], [datacite.ErrRateLimited] or [datacite.ErrServer]. Do not call again before you
// have looked: after AddMedium with [Client.Media], after MintOnServer for drafts
// of the prefix.
//
// # Testing
//
// Package datacitetest has the service in memory, for tests without a network:
//
//	srv := datacitetest.NewServer(nil)
//	defer srv.Close()
//	client := srv.MDS()
//
// # Where the deployed service differs
//
// The public service is more lenient than the specification in places, and
// surprising in some. This package works with both, and protects you:
//
//   - It answers 422 where the specification says 412. Both are ErrMetadataMissing.
//   - It accepts a wrong URL with status 200 and a text. That is [datacite.ErrInvalid].
//   - It decodes % and + in the URL. They are sent so that they arrive.
//   - Asked to hide an unknown DOI, it makes a draft. Hide looks first.
//   - It confuses some names and works on another DOI: it cuts at "#" and
//     "?", drops doubled and closing slashes, follows "." and "..", decodes "%"
//     twice, and ignores accents. Such names are refused ([CheckNewDOI]). Of a
//     prefix with more than five digits it uses only the beginning, so such a prefix
//     is refused, too.
//   - It repairs XML that is not well formed, by leaving parts out. That is refused.
//   - It garbles characters beyond ASCII in what it reads out ([ErrGarbled]), not in
//     what it stores. Garbled text is never written back.
//   - It lists 25 files of a DOI at most ([datacite.ErrIncomplete]).
//   - It answers many reads without a valid login, even those of drafts' URLs. Use CheckAccess to
//     test a login.
//   - It answers 403 when it loses the service behind it, before or after the work,
//     as it does when it refuses. [datacite.ErrForbidden] may be either, and is sent again like a
//     failure of the service. 403 with a page is [datacite.ErrRateLimited].
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package mds
