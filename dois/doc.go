// Package dois finds, reads and writes DOI records through the DOI query
// interface, interface B of the [specification]. DataCite, which runs the public
// deployment, calls it REST API; this is an independent client of it.
//
//	client, err := dois.NewClient(datacite.Config{Service: datacite.Production})
//	if err != nil {
//		return err
//	}
//	opts := &dois.ListOptions{Query: query.FieldTitle.Is("glacier"), ResourceTypeID: []string{"dataset"}}
//	for record, err := range client.All(ctx, opts) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(record.DOI, record.Title())
//	}
//
// # What to use
//
//   - [Client.Get] reads one record, [Client.List] one page of records, and [Client.All] all
//     that match. [ListOptions] has a field for each filter, and a Query made with package
//     query. A [Walk] does the same, and can be stopped and continued another day.
//   - [Client.Create] and [Client.Update] write a [Draft]; [Record.Draft] makes one from a
//     record that was read. Record.Warnings lists doubtful metadata: a Draft with some of the
//     metadata makes the service write the XML anew from its JSON, which escapes texts that came as
//     XML. [Client.ChangeState] makes a DOI findable or hides it, [Client.Delete] removes a
//     draft, and [Client.Transfer] moves a DOI to another repository account. Package mds registers DOIs, too; a [table] compares both packages.
//   - Package reconcile corrects records and changes nothing else of them, compares all DOIs of an account with a
//     repository's own list, and writes many.
//   - [Client.Open] reads a record as DataCite XML, BibTeX, schema.org and so on, and
//     [Client.Citation] the text to cite it with.
//   - Package dois/archive reads the data files that the operator publishes once a year, and
//     saved pages and records.
//   - Package datacitetest has the service in memory, for tests.
//
// # Login
//
// Public records need no login. Writing needs the name and password of a repository
// account, or a token, in [datacite.Config]; so does reading drafts and registered
// DOIs. An API key of the deployed service goes into Username, into Password beside
// the account's name, or into Token. The service writes keys that are sent as tokens to
// its log, so prefer the other two.
//
// # All records
//
// [Client.All] returns every record once, or ends with an error that matches
// [datacite.ErrIncomplete]. It follows the service's cursor, which reaches every record in
// the order of creation. Other orders need page numbers, which reach only 10,000 records and
// shift when records change in between.
//
// # Large metadata
//
// A write of 1 MiB or more is sent compressed, since the gateway before the service takes 10 MB of what is
// sent. Draft.MetadataXML has at most 10 MiB. A single record that is read, as JSON and XML together, may have
// 32 MiB, and one of a list 16; more is [datacite.ErrTooLarge]. The metadata store of package mds
// unpacks nothing: a document of more than 10 MiB is refused.
//
// # Errors
//
// A failed request returns a [*datacite.Error]. An option or a draft that the service would
// refuse, ignore or misread returns a [*datacite.ValidationError], before anything is sent.
// Test for conditions such as [datacite.ErrNotFound] with errors.Is.
//
// After transient failures a request is retried, up to Config.MaxAttempts attempts in all.
// Create is retried only if no connection was made, because a second request could make a
// second DOI. If an error matches [datacite.ErrUnclear], the outcome of the write is unknown:
// read the record before you repeat the write.
//
// # What the service does differently
//
//   - Lists lag behind writes by seconds or minutes; Get does not.
//   - When reading, a wrong name or password is treated as no login, so
//     [datacite.ErrNotFound] for a draft may mean a wrong password.
//   - Lists have affiliations and the publisher without identifiers unless the options
//     Affiliation and Publisher are set (specification §2.2, §9); Get always has them. A
//     [Record] has the same Go types either way, reads members of any type, and keeps the
//     original JSON in Raw.
//   - Terms without an operator must all match (§4.2.1: any term is enough). Package query
//     writes the operators, so its queries do not depend on this.
//   - The creators' nameIdentifiers are searched only in queries that name the field.
//   - provider, references, citations, parts, partOf, versions and versionOf are
//     relationships rather than attributes (§2.2). Both are read.
//   - Get always returns the attributes that a list returns with the option Detail.
//   - The options Registered and Created, given two years, match the years between them, too.
//   - Records written as JSON and as XML have different schemaVersions, so SchemaVersion "4"
//     does not find all records of schema 4.
//
// [table]: https://github.com/datacite-go/datacite-go/blob/main/docs/registering.md
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package dois
