package counter_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/datacite-go/datacite-go/reports/counter"
)

// A platform stores the accesses that count while it serves them.
func ExampleFromRequest() {
	var store []counter.Event // a database
	page := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "Rain in Spain")
		if e, ok := counter.FromRequest(r, http.StatusOK, nil); ok {
			e.DOI = "10.5072/" + r.URL.Query().Get("id")
			store = append(store, e)
		}
	}
	for _, method := range []string{"GET", "HEAD"} {
		page(httptest.NewRecorder(), httptest.NewRequest(method, "https://data.example.org/dataset?id=abc", nil))
	}
	fmt.Println(len(store), store[0].DOI, store[0].URL)
	// Output: 1 10.5072/abc data.example.org/dataset?id=abc
}
