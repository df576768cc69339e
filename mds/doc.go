// Package mds registers DOIs with DataCite: their metadata, and the URLs that they lead
// to. It is an independent client of the metadata store (DataCite's MDS API),
// interface C of the [specification].
//
//	client, err := mds.NewClient(datacite.Config{Service: datacite.Test, Username: "EXAMPLE.REPO", Password: password})
//	if err != nil {
//		return err
//	}
//	doc, err := mds.NewDocument(record) // or mds.XML for metadata XML
//	if err != nil {
//		return err
//	}
//	done, err := client.Register(ctx, "10.5072/glacier-7", "https://repo.example.org/glacier/7", doc, nil)
//	if err != nil {
//		return err
//	}
//	fmt.Println(done.DOI, done.Change, done.State) // 10.5072/glacier-7 created findable
//
// Every request carries the name and password of a member's account; the password may
// be an API key of the deployed service. Package datacitetest has the service in memory
// for tests.
//
// # What to call
//
//   - [Client.Register] registers a DOI or corrects it. EnsureAll of package reconcile registers
//     many DOIs.
//   - [Client.Mint] draws the name of a new DOI.
//   - [Client.PutMetadata] and [Client.PutURL] do a single step. All these methods but Mint may
//     be run again after any error. A [table] compares them with each other and with package
//     dois.
//   - [Client.Hide], [Client.Show] and [Client.DeleteDraft] change the state.
//   - [Client.URL], [Client.Metadata] and [Client.State] read. Package dois lists an account's
//     DOIs, and has the addresses of a DOI's files (Draft.ContentURL).
//   - [Client.CheckAccess] tests a login without writing.
//
// Package metadata checks records before they are sent.
//
// A DOI name may be written in every form that package doi reads. A new DOI cannot have a
// name with other characters than doi.CheckNew allows. Older DOIs have such names; all
// methods but PutMetadata change them.
//
// # States
//
//	           PutMetadata, Mint             PutURL
//	(no DOI) ────────────────────▶ draft ──────────────▶ findable
//	    ▲                            │                   │      ▲
//	    └────────────────────────────┘              Hide │      │ Show, PutMetadata
//	              DeleteDraft                            ▼      │
//	                                                    registered
//
// A draft is not public. A registered DOI resolves; a findable DOI can also be found by
// searching. Neither can be deleted (specification §3.1).
//
// A registered DOI that was hidden becomes findable with every write through this interface,
// which cannot tell whether a DOI is hidden. Register therefore asks the DOI API
// (Service.API), and refuses a hidden DOI ([ErrHidden]) unless RegisterOptions.Show is set.
// PutMetadata and PutURL do not ask.
//
// # Errors
//
// Invalid input returns a [*datacite.ValidationError] with all faults, and nothing is sent. A
// refusal by the service is a [*datacite.Error] with the service's text and, for metadata, the
// element and line. Test for conditions with [errors.Is]: [ErrMetadataMissing],
// [datacite.ErrForbidden] …
//
// The service drops or changes some values without an error. Registration.Warnings and Altered
// list them. [Document.Findings] lists the warnings before sending, also for the methods that
// return no Registration.
//
// Requests are retried, up to Config.MaxAttempts attempts, after a lost response and after the
// statuses 403, 408, 429 and 5xx except 501. If the last attempt of a write fails like this,
// the write may have been carried out, and the error matches [datacite.ErrUnclear]. Call the
// method again, or read the DOI; after Mint, continue with the name that it returned.
//
// # Where the deployed service differs
//
// This package works with both the specified and the deployed service. These differences
// affect all methods; the methods list further ones:
//
//   - The service changes some names into other names: it cuts at "#" and "?", drops double
//     and trailing slashes, follows "." and "..", decodes "%" twice, ignores accents, and uses
//     only the beginning of a prefix of more than five digits. This package refuses such
//     names.
//   - It repairs XML that is not well formed by dropping parts. This package refuses such XML.
//   - It stores characters beyond ASCII correctly, but replaces them by "?" in responses
//     ([ErrReplacedCharacters]). This package never writes such text back.
//   - It answers 403 for a refusal, and also when its backend is unreachable, before or after
//     the work. After a 403 this package therefore asks the DOI API (Service.API), with one or
//     two requests, whether the DOI is of another account, or the prefix is. If so, the refusal
//     is final; if not, the request is retried. A 403 with an HTML page is
//     [datacite.ErrRateLimited].
//
// [table]: https://github.com/datacite-go/datacite-go/blob/main/docs/registering.md
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package mds
