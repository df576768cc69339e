// Package reconcile makes DOI records what a repository says they should be: it compares, and
// writes what differs, and nothing else.
//
//	client, err := reconcile.NewClient(datacite.Config{Service: datacite.Test, Username: "ORG.REPO", Password: password})
//	if err != nil {
//		return err
//	}
//	corrected := &metadata.Record{Titles: metadata.List[metadata.Title]{{Title: "Glacier length"}}}
//	_, err = client.Ensure(ctx, reconcile.Desired{DOI: "10.5072/glacier-1", Metadata: corrected}, nil)
//
// # What to use
//
//   - [Client.Ensure] brings a DOI to its [Desired] record, URL and state, and
//     [Client.EnsureAll] many DOIs.
//   - [Client.Audit] compares the DOIs of an account or a prefix with a repository's own list.
//     EnsureAll writes what it found.
//
// # Two stored forms
//
// The service stores a record twice: as XML, and as the attributes that its JSON shows. Each
// write sets one form, and the service makes the other form of it. Neither form can hold all
// that the other one can: if a record that came as XML is corrected as JSON, the XML loses several
// polygons of one place, dates such as "c. 1850", and more. So this package compares both forms,
// and takes the [Road] that changes nothing but the properties that differ:
//
//   - As JSON, only these properties, if the XML is what the service wrote from its JSON.
//   - As XML otherwise: the stored document, in which only the elements of these properties are
//     replaced. Language, version, contentUrl and container, which a document cannot remove or does not
//     have, are written as JSON first, and the document is stored again.
//
// Where no road keeps the rest, nothing is written and the error ([ErrLoss]) names each value
// that would be lost; [Options].AllowLoss writes all the same.
//
// The XML road sends the whole document, and the service cannot be asked to write only if nothing
// has changed. The record is read immediately before it is written; if somebody else wrote in between, a
// warning of [Outcome].Record says so (code conflict).
//
// The states of a DOI and the interface that is used are those of the [specification] (§3.1, §4.2).
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package reconcile
