// Package mds registers DOIs with DataCite: their metadata, and the URLs that they lead
// to. It is an independent client of the metadata store, interface C of the
// [specification].
//
//	client, err := mds.NewClient(datacite.Config{Service: datacite.Test, Username: "EXAMPLE.REPO", Password: password})
//	if err != nil {
//		return err
//	}
//	doc, err := mds.NewDocument(record) // or mds.XML for metadata XML
//	if err != nil {
//		return err
//	}
//	done, err := client.Register(ctx, "10.5072/glacier-7", "https://repo.example.org/glacier/7", doc)
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
//   - Register a DOI, or correct it: [Client.Register]; with options: [Client.Ensure]. Many
//     DOIs: [Client.RegisterAll]. A new name: [Client.Mint]. One step: [Client.PutMetadata],
//     [Client.PutURL]. All but Mint may be run again after any error. A [table] compares them
//     with each other and with package dois.
//   - Change the state: [Client.Hide], [Client.Show], [Client.DeleteDraft].
//   - Read: [Client.URL], [Client.Metadata], [Client.State]. Package dois lists an account's
//     DOIs, and has the files of a DOI (Draft.ContentURL).
//   - Test a login without writing: [Client.CheckAccess].
//   - Wait for the resolver, usually a few minutes: [WaitResolved].
//   - Metadata in other formats: [Detect]. Checks before sending: package metadata.
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
// A draft is not public. A registered DOI resolves, a findable one is found by
// searching, too; neither can be deleted (specification §3.1).
//
// Every write of this interface shows a hidden DOI, which the interface itself does not
// recognise. Register, Ensure and RegisterAll therefore ask the DOI API (Service.API) and
// refuse to change a hidden DOI ([ErrHidden]) unless EnsureOptions.Show asks for it.
// PutMetadata and PutURL do what the diagram says.
//
// # Errors
//
// A [*datacite.ValidationError] has the faults of the input; nothing was sent. A refusal is
// a [*datacite.Error] with the service's text and, for metadata, the element and line.
// Test for conditions with [errors.Is]: [ErrMetadataMissing], [datacite.ErrForbidden] …
// Registration.Warnings and Altered list what the service drops or changes without an error;
// [Document.Findings] lists the warnings before sending, and for the other methods.
//
// Requests are sent again, up to Config.MaxAttempts times, after a lost response and
// after the statuses 403, 408, 429 and 5xx but 501. If the last attempt of a write ends
// so, the error matches [datacite.ErrUnclear], as the write may have been carried out.
// Call the method again, or look; after Mint, use the name that it returned.
//
// # Where the deployed service differs
//
// The methods say where the deployed service differs from the specification; this
// package works with both. These differences affect all methods:
//
//   - It turns some names into others: it cuts at "#" and "?", drops doubled and closing
//     slashes, follows "." and "..", decodes "%" twice, ignores accents, and uses only
//     the beginning of a prefix of more than five digits. Such names are refused.
//   - It repairs XML that is not well formed by dropping parts. Such XML is refused.
//   - It garbles characters beyond ASCII when they are read, not when they are stored
//     ([ErrGarbled]). Garbled text is never written back.
//   - A 403 is a refusal, or the store has lost the service behind it, before or after
//     the work. It is sent again like a failure. A 403 with a page is
//     [datacite.ErrRateLimited].
//
// [table]: https://github.com/datacite-go/datacite-go/blob/main/docs/registering.md
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package mds
