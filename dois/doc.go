// Package dois finds, reads and writes DOI records through the DOI query
// interface, interface B of the [specification]. The public deployment of the
// service is DataCite; this is an independent client of it.
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
//     query. A [Walk] is an All that can be stopped and continued another day.
//   - [Client.Create] and [Client.Update] write a [Draft]; [Record.Draft] makes one of a record
//     that was read. [Client.ChangeState] makes a DOI findable or hides it, and
//     [Client.Delete] removes a draft. What is written and doubtful is in Record.Warnings.
//   - [Client.Audit] compares the DOIs of an account or a prefix with those that a repository
//     wants, and [Client.Repair] writes what differs.
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
// [datacite.ErrIncomplete]. It goes by cursor, which reaches every record in the order of
// creation. Other orders need page numbers, which reach 10,000 records and shift when
// records change in between; ListOptions.Overflow says what to do when more match.
//
// # Errors
//
// A request that failed is a [*datacite.Error], and an option or a draft that the service
// would refuse, ignore or misread a [*datacite.ValidationError] before anything is sent. Ask with
// errors.Is for values such as [datacite.ErrNotFound].
//
// After failures that may pass, requests are sent again, up to Config.MaxAttempts times in
// all; Create only if no connection was made, because a second one could make a second
// DOI. An error that matches [datacite.ErrUnclear] leaves the outcome unknown: look first,
// then repeat.
//
// # What the service does differently
//
//   - Lists lag behind writes by seconds or minutes; Get does not.
//   - When reading, a wrong name or password is treated as no login, so
//     [datacite.ErrNotFound] for a draft may mean a wrong password.
//   - Lists have affiliations and the publisher without identifiers unless the options
//     Affiliation and Publisher are set (specification §2.2, §9); Get always has them. A
//     [Record] has the same Go types either way, reads members of any type, and keeps in
//     Raw what was sent.
//   - Terms without an operator must all match (§4.2.1 says that one is enough). Package
//     query writes operators that both read alike.
//   - The creators' nameIdentifiers are searched only by the name of the field.
//   - provider, references, citations, parts, partOf, versions and versionOf are
//     relationships rather than attributes (§2.2). Both are read.
//   - Get always returns the attributes of Detail.
//   - Registered and Created take two years for all those between them.
//   - Records from JSON have other schemaVersions than those from XML, so
//     SchemaVersion "4" does not find all of schema 4.
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package dois
