package shell

import (
	_ "embed"
	"fmt"
	"html/template"
	"sync"
)

//go:embed page.css
var pageStyle string

// PageTemplate is the template of an HTML page, parsed when it is first called. The page stands for
// itself: it has no script, and nothing from elsewhere. In addition to funcs it may call style, for
// the style element; number and count, as in other output; percent; and bar, an image of a share of
// a whole beside a text.
func PageTemplate(name, text string, funcs template.FuncMap) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		return template.Must(template.New(name).Funcs(template.FuncMap{
			"style":   func() template.CSS { return template.CSS(pageStyle) },
			"number":  Number[int],
			"count":   Count[int],
			"percent": percent,
			"bar":     bar,
		}).Funcs(funcs).Parse(text))
	})
}

// percent writes a share. Only nothing is 0 %, and only all is 100 %.
func percent(part, whole int) string {
	switch p := 100 * float64(part) / float64(max(whole, 1)); {
	case part > 0 && p < 1:
		return "under 1 %"
	case part < whole && p > 99:
		return "over 99 %"
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

// bar draws a share of a whole. It repeats what the text beside it says, so it is hidden from screen
// readers; printers print it, unlike backgrounds.
func bar(part, whole int) template.HTML {
	const width = 200
	at := float64(part) / float64(max(whole, 1)) * width
	return template.HTML(fmt.Sprintf(`<svg class="bar" aria-hidden="true" viewBox="0 0 %d 12" `+
		`preserveAspectRatio="none"><rect class="whole" width="%[1]d" height="12"/><rect class="part" width="%.1f" `+
		`height="12"/></svg>`, width, at))
}
