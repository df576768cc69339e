package sandbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

// A DOI is registered in two steps, and resolves after a while.
func Example() {
	service := sandbox.New(nil)
	client := &http.Client{Transport: service.Transport()}
	put := func(path, contentType, body string) {
		req, _ := http.NewRequest(http.MethodPut, "https://mds.example.org"+path, strings.NewReader(body))
		req.SetBasicAuth(sandbox.DefaultAccount.Username, sandbox.DefaultAccount.Password)
		req.Header.Set("Content-Type", contentType)
		res, err := client.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer res.Body.Close()
		fmt.Println(res.Status, service.State("10.5072/abc"))
	}
	put("/metadata/10.5072/abc", "application/xml;charset=UTF-8", `<resource xmlns="http://datacite.org/schema/kernel-4">
		<identifier identifierType="DOI"/>
		<creators><creator><creatorName>Garza, Kristian</creatorName></creator></creators>
		<titles><title>Climate of the Alps</title></titles>
		<publisher>Example Archive</publisher>
		<publicationYear>2020</publicationYear>
		<resourceType resourceTypeGeneral="Dataset"/>
	</resource>`)
	put("/doi/10.5072/abc", "text/plain;charset=UTF-8", "doi=10.5072/abc\nurl=https://example.org/abc")

	_, ok := service.Resolve("10.5072/abc")
	fmt.Println(ok)
	service.Advance(5 * time.Minute)
	fmt.Println(service.Resolve("10.5072/abc"))
	// Output:
	// 201 Created draft
	// 201 Created findable
	// false
	// https://example.org/abc true
}
