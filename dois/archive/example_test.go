package archive_test

import (
	"fmt"
	"log"
	"path"
	"strings"
	"testing/fstest"

	"github.com/datacite-go/datacite-go/dois/archive"
)

func ExampleNewReader() {
	file := strings.NewReader(`{"doi":"10.5072/length","titles":[{"title":"Glacier length"}],"updated":"2025-03-01T08:00:00Z"}
{"doi":"10.5072/cut-off","titles":[{"title":"Ice c
{"doi":"10.5072/ice-cores","titles":[{"title":"Ice cores"}],"updated":"2025-03-02T09:30:00Z"}
`)
	records := archive.NewReader(file, &archive.Options{
		LeaveOut: func(damage error) bool {
			fmt.Println(damage)
			return true
		},
	})
	for record, err := range records.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(record.DOI, record.Title())
	}
	// Output:
	// 10.5072/length Glacier length
	// datacite: line 2: byte 96, after the record 10.5072/length: unexpected EOF
	// 10.5072/ice-cores Ice cores
}

// Of a data file that was unpacked, the months since the last run are read.
func ExampleNewFolderReader() {
	folder := fstest.MapFS{ // in operation: os.DirFS("datafile")
		"dois/updated_2025-01/part_0000.jsonl": {Data: []byte(`{"doi":"10.5072/length","url":"https://example.org/7"}`)},
		"dois/updated_2025-02/part_0000.jsonl": {Data: []byte(`{"doi":"10.5072/ice-cores","url":"https://example.org/8"}`)},
	}
	records := archive.NewFolderReader(folder, &archive.Options{
		Members: func(name string) bool { return path.Base(path.Dir(name)) >= "updated_2025-02" },
	})
	for record, err := range records.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(record.DOI, record.URL)
	}
	// Output: 10.5072/ice-cores https://example.org/8
}
