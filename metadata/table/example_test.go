package table_test

import (
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go/metadata/table"
)

func Example() {
	file := strings.NewReader(`doi;url;title;creators;publisher;year;type
10.5072/length;https://repository.example.org/1;Glacier length;Lovelace, Ada;Example Repository;2026;Dataset
10.5072/area;https://repository.example.org/2;Glacier area;Ada Lovelace;Example Repository;26;Dataset
`)
	items, err := table.NewReader("items.csv", file, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for row, err := range items.All() {
		if err != nil {
			fmt.Println(err) // what follows cannot be read
			return
		}
		fmt.Println(row.DOI, row.Record.Titles[0].Title)
		for _, finding := range row.Findings {
			fmt.Println(finding)
		}
	}
	// Output:
	// 10.5072/length Glacier length
	// 10.5072/area Glacier area
	// items.csv, line 3, column 4: creators: "Ada Lovelace": write persons as "Family, Given" or "Name,", organizations as "org: Name"
	// items.csv, line 3, column 6: year: "26" is not a year of four digits
}
