package syntax_test

import (
	"fmt"

	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/query/syntax"
)

// People may write title: for titles.title:.
func ExampleRewrite() {
	e, err := query.Parse("title:climate AND NOT ice")
	if err != nil {
		fmt.Println(err)
		return
	}
	tree := syntax.Rewrite(query.Syntax(e), func(n *syntax.Node, field string) *syntax.Node {
		if n.Field == "title" {
			n.Field = string(query.FieldTitle)
		}
		return n
	})
	fmt.Println(query.FromSyntax(tree))
	// Output:
	// titles.title:climate AND NOT ice
}

func ExampleWalk() {
	e, err := query.Parse(`titles.title:(climate "sea ice") AND alps*`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for n, field := range syntax.Walk(query.Syntax(e)) {
		if n.Kind != syntax.KindGroup {
			fmt.Printf("%s %q in %q\n", n.Kind, n.Text, field)
		}
	}
	// Output:
	// term "climate" in "titles.title"
	// phrase "sea ice" in "titles.title"
	// prefix "alps" in ""
}
