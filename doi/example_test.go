package doi_test

import (
	"errors"
	"fmt"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
)

// A platform chooses the names itself, and keeps them before it registers them.
func ExampleNew() {
	name := doi.New("10.5072")
	fmt.Println(len(name), doi.CheckNew(name))
	fmt.Println(doi.New("10.5072") == name)
	// Output:
	// 17 <nil>
	// false
}

// A name that people chose is refused before it is permanent.
func ExampleCheckNew() {
	for _, name := range []string{"10.5072/glacier-7", "10.5072/glacier 7", "10.5072/glacier/"} {
		err := doi.CheckNew(name)
		fmt.Println(errors.Is(err, datacite.ErrInvalidDOI), err)
	}
	// Output:
	// false <nil>
	// true datacite: DOI name: "10.5072/glacier 7" has the character ' ', which new names cannot have; allowed are letters, digits and - . _ ; ( ) /
	// true datacite: doi: "10.5072/glacier/" ends with "/", which the service drops: the request would reach another DOI
}

// However two sources write a name, it is the same DOI.
func ExampleSame() {
	ours, err := doi.Parse("https://doi.org/10.5072/Glacier-7")
	if err != nil {
		fmt.Println(err)
	}
	theirs, err := doi.Parse("doi:10.5072/GLACIER-7")
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(ours, theirs, doi.Same(ours, theirs))
	// Output: 10.5072/Glacier-7 10.5072/GLACIER-7 true
}
