package datacitetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reports"
)

var ctx = context.Background()

// glacier is the metadata of a dataset.
func glacier() mds.Document {
	doc, err := mds.NewDocument(&metadata.Record{
		Creators:        []metadata.Creator{{Name: "Lovelace, Ada"}},
		Titles:          []metadata.Title{{Title: "Glacier length"}},
		Publisher:       metadata.Publisher{Name: "Example Repository"},
		PublicationYear: "2026",
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset},
	})
	if err != nil {
		log.Fatal(err)
	}
	return doc
}

// usage is a report on so many datasets.
func usage(n int) *reports.Report {
	r := &reports.Report{Header: reports.NewHeader("Example Repository", "1999-11-01", reports.Month(1999, time.October))}
	for n := range n {
		r.Datasets = append(r.Datasets, reports.Dataset{
			Title: "Glacier length", Platform: "example", Publisher: "Example Repository", DataType: reports.DataTypeDataset,
			DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: fmt.Sprintf("10.5072/glacier-%d", n)}},
		})
	}
	return r
}

// What one interface stores the others show, and the server tells what it holds.
func Example() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	_, err := srv.MDS().Register(ctx, "10.5072/glacier-7", "https://repo.example.org/7", glacier(), nil)
	if err != nil {
		log.Fatal(err)
	}
	found, err := srv.DOIs().Get(ctx, "10.5072/glacier-7", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Title(), srv.State("10.5072/glacier-7"))
	// Output: Glacier length findable
}

// A publication survives that answers get lost after the work was done.
func ExampleFaults_When() {
	lost := &datacitetest.Fault{Kind: datacitetest.FaultDropAfter}
	srv := datacitetest.NewServer(&datacitetest.Options{
		Faults: datacitetest.First(lost, nil, lost).When(datacitetest.Writes),
	})
	defer srv.Close()
	done, err := srv.MDS().Register(ctx, "10.5072/glacier-7", "https://repo.example.org/7", glacier(), nil)
	fmt.Println(done.State, err)
	for _, r := range srv.Requests() {
		if r.Method == "PUT" {
			fmt.Println(r.Method, r.URL.EscapedPath(), r.Status)
		}
	}
	// Output:
	// findable <nil>
	// PUT /metadata/10.5072/glacier-7 201
	// PUT /metadata/10.5072/glacier-7 201
	// PUT /doi/10.5072/glacier-7 201
	// PUT /doi/10.5072/glacier-7 201
}

// The first write meets a server that is too busy, and all that follow bad weather.
func ExampleFaults_Or() {
	busy := &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: 429, RetryAfter: time.Minute}
	srv := datacitetest.NewServer(&datacitetest.Options{
		NoPort: true,
		Faults: datacitetest.First(busy).When(datacitetest.Writes).Or(datacitetest.Schedule(1, 0.3)),
	})
	defer srv.Close()
	done, err := srv.MDS().Register(ctx, "10.5072/glacier-7", "https://repo.example.org/7", glacier(), nil)
	fmt.Println(done.State, err)
	// Output: findable <nil>
}

// A token expires while a program runs.
func ExampleServer_Token() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	client, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}, Token: srv.Token(srv.Now().Add(time.Hour))})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		_, err = client.Create(ctx, usage(1))
		fmt.Println(errors.Is(err, datacite.ErrUnauthorized))
		srv.Advance(time.Hour)
	}
	// Output:
	// false
	// true
}

// Lists show a new record after a while; the record itself is there at once.
func ExampleOptions_indexLag() {
	srv := datacitetest.NewServer(&datacitetest.Options{IndexLag: time.Minute})
	defer srv.Close()
	made, err := srv.DOIs().Create(ctx, &dois.Draft{Prefix: datacitetest.Prefix})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		list, err := srv.DOIs().List(ctx, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(list.Total, srv.State(made.DOI))
		srv.Advance(time.Minute)
	}
	// Output:
	// 0 draft
	// 1 draft
}

// A body is too large for the server, or for the proxy before it.
func ExampleOptions_tooLarge() {
	srv := datacitetest.NewServer(&datacitetest.Options{MaxBody: 2000})
	defer srv.Close()
	for _, abstract := range []string{"Short.", strings.Repeat("Long. ", 1000)} {
		_, err := srv.DOIs().Create(ctx, &dois.Draft{
			Prefix: datacitetest.Prefix,
			Record: metadata.Record{Descriptions: []metadata.Description{{Description: abstract, DescriptionType: metadata.DescriptionAbstract}}},
		})
		fmt.Println(errors.Is(err, datacite.ErrTooLarge), len(srv.Names()))
	}
	// Output:
	// false 1
	// true 1
}

// Each account has its own DOIs, which others can neither see nor change.
func ExampleServer_As() {
	srv := datacitetest.NewServer(&datacitetest.Options{Accounts: []datacitetest.Account{
		{}, // EXAMPLE.REPO
		{Username: "OTHER.REPO", Prefixes: []string{"10.83000"}, Domains: []string{"*.example.org"}},
	}})
	defer srv.Close()
	other := srv.As("OTHER.REPO")
	for _, name := range []string{"10.83000/1", "10.5072/1"} {
		_, err := other.MDS().Register(ctx, name, "https://other.example.org/1", glacier(), nil)
		fmt.Println(name, srv.State(name), errors.Is(err, datacite.ErrForbidden))
	}
	_, err := other.MDS().PutURL(ctx, "10.83000/1", "https://elsewhere.example.com/1")
	fmt.Println(err != nil)
	err = srv.MDS().Hide(ctx, "10.83000/1")
	fmt.Println(errors.Is(err, datacite.ErrForbidden))
	// Output:
	// 10.83000/1 findable false
	// 10.5072/1  true
	// true
	// true
}

// The server is the resolver that a program waits for.
func ExampleServer_Resolve() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	if _, err := srv.MDS().Register(ctx, "10.5072/glacier-7", "https://repo.example.org/7", glacier(), nil); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		url, err := srv.Resolve(ctx, "10.5072/glacier-7")
		fmt.Printf("%q %v\n", url, err)
		srv.Advance(3 * time.Minute)
	}
	// Output:
	// "" <nil>
	// "https://repo.example.org/7" <nil>
}

// A large report arrives in subsets.
func ExampleServer_StoredReports() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	large := usage(5)
	_, err := srv.Reports().Submit(ctx, large.Header, reports.Source(large.Datasets), &reports.SubmitOptions{MaxDatasets: 2})
	if err != nil {
		log.Fatal(err)
	}
	stored := srv.StoredReports()[0]
	report, err := stored.Report()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stored.ClientID, len(stored.Subsets), len(report.Datasets), report.Header.CreatedBy)
	// Output: example.repo 3 5 Example Repository
}

// The service is down while a test is under way, and comes back.
func ExampleServer_SetFaults() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	if _, err := srv.DOIs().Create(ctx, &dois.Draft{DOI: "10.5072/glacier-7"}); err != nil {
		log.Fatal(err)
	}
	down := func(int, *http.Request) *datacitetest.Fault {
		return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: 503}
	}
	for _, faults := range []datacitetest.Faults{down, nil} {
		srv.SetFaults(faults)
		_, err := srv.DOIs().Get(ctx, "10.5072/glacier-7", nil)
		fmt.Println(errors.Is(err, datacite.ErrServer))
	}
	// Output:
	// true
	// false
}

// A record shows the counts of a report when the service has processed it.
func ExampleServer_ProcessUsage() {
	srv := datacitetest.NewServer(&datacitetest.Options{UsageLag: 24 * time.Hour})
	defer srv.Close()
	if err := srv.PutRecordJSON([]byte(`{"doi":"10.5072/glacier-0"}`)); err != nil {
		log.Fatal(err)
	}
	report := usage(1)
	report.Datasets[0].Performance = []reports.Performance{{
		Period: report.Header.ReportingPeriod, Instance: []reports.Instance{{
			Count: 12, MetricType: reports.MetricUniqueDatasetInvestigations, AccessMethod: reports.AccessRegular,
		}},
	}}
	if _, err := srv.Reports().Create(ctx, report); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		record, err := srv.DOIs().Get(ctx, "10.5072/glacier-0", nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(record.ViewCount, "views")
		srv.ProcessUsage()
	}
	// Output:
	// 0 views
	// 12 views
}

// A test begins with a record that nobody could write today: of an earlier schema, years old, with counts.
func ExampleServer_PutRecordJSON() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	err := srv.PutRecordJSON([]byte(`{"doi":"10.5072/old","schemaVersion":"http://datacite.org/schema/kernel-3",
		"state":"registered","created":"2012","viewCount":40}`))
	if err != nil {
		log.Fatal(err)
	}
	record, err := srv.DOIs().Get(ctx, "10.5072/old", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.State, record.Created, record.ViewCount)
	// Output: registered 2012-01-01T00:00:00.000Z 40
}

// Each test begins with the same records.
func ExampleServer_Checkpoint() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	if err := srv.PutRecordJSON([]byte(`{"doi":"10.5072/given"}`)); err != nil {
		log.Fatal(err)
	}
	srv.Checkpoint()
	for _, name := range []string{"10.5072/first", "10.5072/second"} {
		if _, err := srv.DOIs().Create(ctx, &dois.Draft{DOI: name}); err != nil {
			log.Fatal(err)
		}
		fmt.Println(srv.Names())
		srv.Reset()
	}
	// Output:
	// [10.5072/first 10.5072/given]
	// [10.5072/given 10.5072/second]
}

// The records of one run are those of the next one, in another process.
func ExampleServer_Restore() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	if err := srv.PutRecordJSON([]byte(`{"doi":"10.5072/given"}`)); err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := srv.Save(&file); err != nil {
		log.Fatal(err)
	}

	later := datacitetest.NewServer(nil)
	defer later.Close()
	if err := later.Restore(&file); err != nil {
		log.Fatal(err)
	}
	fmt.Println(later.Names())
	// Output: [10.5072/given]
}
