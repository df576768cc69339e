// Package dois finds, reads and writes DOI records through the DOI query
// interface, interface B of the [specification]. The public deployment of the
// service is DataCite; this is an independent client of it.
//
//	client, err := dois.NewClient(datacite.Config{Service: datacite.Production})
//	if err != nil {
//		return err
//	}
//	opts := &dois.ListOptions{Query: query.FieldTitle.Is("glacier"), ResourceTypeID: "dataset"}
//	for record, err := range client.All(ctx, opts) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(record.DOI, record.Titles[0].Title)
//	}
//
// # Authentication
//
// Reading public records needs no credentials. Writing does, and so does reading
// drafts and registered DOIs: put the name and password of a repository account,
// or a token, into [datacite.Config]. When reading, the deployed service treats a
// wrong name or password as none, so [datacite.ErrNotFound] for a draft may mean a wrong
// password.
//
// The deployed service issues API keys to repositories: "DC." and 32 letters and
// digits. One goes into Username without a Password, into Password beside the name
// of its account, or into Token. It may do what the account may do with DOIs, and
// does not expire. A revoked key is a wrong password, or a wrong token
// ([datacite.ErrUnauthorized]). The service writes keys that are sent as tokens to its log,
// so Username is the better place.
//
// Credentials go over HTTPS only (plain HTTP is for loopback hosts), to the host
// of the base URL only, and into no error and no log.
//
// # Searching
//
// [ListOptions] has a field for each filter, and a Query made with package query,
// which writes values so that they mean what they say. Filters and query must all
// hold. Options that the service would refuse, ignore or read as something else,
// such as an order that it does not know, are a [*datacite.FieldError] before anything is
// sent.
//
// # Paging
//
// [Client.List] returns one page; Results.Next says how to ask for the next one.
// [Client.Pages] and [Client.All] do that for you. They send all parameters
// with each request, some of which the service's own link to the next page
// loses.
//
// There are two ways. A cursor reaches every record, in the order of creation; a
// record that is made in the meantime comes at the end. Page numbers know every
// [query.Sort], reach 10,000 records, and shift when records change in between.
// All goes by cursor unless Sort asks for another order. It gives every record
// once, or ends with an error that matches [datacite.ErrIncomplete]: it never ends early
// silently. When more than 10,000 records match in an order that needs page
// numbers, ListOptions.Overflow says what to do. A [Walk] does the same and
// remembers where it is: [Walk.Position] can be saved and put into
// ListOptions.From to continue another day.
//
// # Shapes and flags
//
// The service shows affiliations and the publisher as plain names unless the
// flags Affiliation and Publisher are set (specification §2.2, §9). A [Record]
// has the same Go types either way; with the flags there are identifiers in them.
// Both flags are sent with every request, true or false, because the service has
// announced that its defaults will change. Detail adds the attributes that lists
// leave out. Fields reduces the records to some attributes.
//
// An unexpected type in a record is no error when it is read, and Record.Raw
// has everything as it was sent.
//
// # Writing
//
// [Client.Create] and [Client.Update] send a [Draft], as JSON or with metadata
// XML in it. Zero fields are not sent and stay as they are. [Record.Draft] turns a
// record that was read into one to write. [Client.Publish], [Client.Register] and
// [Client.Hide] change the state, [Client.Delete] removes a draft. Lists lag
// behind what was written, by seconds or minutes; [Client.Get] does not.
//
// # Many DOIs
//
// [Client.Audit] compares all DOIs of an account or a prefix with those that a
// repository wants, and tells what is missing, extra, changed, invalid today or in an
// old version of the schema. [Client.Repair] writes what differs, and no more.
//
// # Other formats
//
// [Client.Open] returns a record as DataCite XML, Citeproc, schema.org, BibTeX,
// RIS and more; [Client.Citation] as a text to cite it with.
//
// # Archives
//
// The operator publishes all records once a year as a data file. Package dois/archive
// reads it, and saved pages and records, in constant memory.
//
// # Errors
//
// Answers other than success are an [*datacite.Error]. Ask what happened with errors.Is
// and the values such as [datacite.ErrNotFound], and for the faults that the service names
// one by one look into Details.
//
// Requests are sent again, up to Config.MaxAttempts times in all, after
// failures that may pass: lost answers, and 408, 429 and 5xx but 501. Create is sent
// again only if no connection could be made, so a single 429 or 503 is its
// error. If the outcome is unknown, the error matches [datacite.ErrUnclear], besides
// [datacite.ErrRateLimited] or [datacite.ErrServer]: a gateway may give up on work that goes on behind it.
//
// # Testing
//
// Package datacitetest has the service in memory, for tests of programs that use
// this package:
//
//	srv := datacitetest.NewServer(nil)
//	defer srv.Close()
//	client := srv.DOIs()
//
// # Where the deployed service differs from the specification
//
//   - Terms without an operator must all match (§4.2.1 says one is enough). The
//     functions of package query write operators that both read alike.
//   - The creators' nameIdentifiers are not searched without naming the field.
//   - provider, references, citations, parts, partOf, versions and versionOf are
//     relationships rather than attributes (§2.2). Both are read.
//   - Get always has the extra attributes of Detail, and ignores Fields.
//   - Registered and Created take two years for all those between them.
//   - Records from JSON have other schemaVersions than those from XML, so
//     SchemaVersion "4" does not find all of schema 4.
//
// [specification]: https://github.com/datacite-go/datacite-go/blob/main/docs/specification.md
package dois
