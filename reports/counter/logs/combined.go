package logs

import (
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/access"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// Combined is the access log of a web server such as Apache or nginx: the combined format,
// with the virtual host before it ("vhost_combined"), with X-Forwarded-For in place of the
// address or at the end, or with other fields after the user agent. Options.Layout
// describes other layouts.
//
// A successful GET or POST of one of Options.Paths is an event: its status is 200, 206 or 304 (the code of
// practice names 200 and 304; a ranged download is a retrieval, too). Lines with another status or
// method are Counts.Other. A line with something else in place of the status, or of the method
// of a successful request, is a fault: the log has another layout.
var Combined = Format{
	Name:    "combined",
	Summary: "access log of a web server, in a common layout or one that is given",
	Parser:  readCombined,
}

func readCombined(o *Options) (func() ParseLine, error) {
	if o.Paths == nil {
		return nil, datacite.Invalidf("Options.Paths", datacite.CodeMissing,
			"are missing: nothing else says which path is which dataset")
	}
	layouts := usual()
	if o.Layout != "" {
		own, err := readLayout(o.Layout)
		if err != nil {
			return nil, err
		}
		layouts = []*layout{own}
	} else if o.Pseudonyms {
		combined := *usual()[0]
		combined.usual = false
		layouts = []*layout{&combined}
	}
	return func() ParseLine {
		w := &webLog{Options: o, layouts: layouts, find: newPathFinder(o.Paths).target}
		for _, l := range layouts {
			w.clocks = append(w.clocks, l.time(o))
		}
		return w.parse
	}, nil
}

// A webLog reads lines of a web server.
type webLog struct {
	*Options
	layouts []*layout
	clocks  []func(string) (time.Time, error) // of the layouts
	last    int                               // layout of the line
	find    func(string) (Target, bool, error)
}

func (w *webLog) parse(line string) (e counter.Event, ok bool, err error) {
	if line[0] == '#' {
		return e, false, nil
	}
	var f fields
	if !w.split(line, &f) {
		const mismatch = "is not in the layout of the log"
		const usual = "is neither in the combined format nor in another common layout that begins with the address of the " +
			"visitor"
		return e, false, datacite.Invalidf("", datacite.CodeSyntax, "line %s: %.100q",
			map[bool]string{true: mismatch, false: usual}[w.Layout != ""], line)
	}
	if e.Time, err = w.clocks[w.last](f[clock]); err != nil {
		return e, false, err
	}
	if f[request] != "" {
		f[method], f[target], _ = strings.Cut(f[request], " ")
		f[target], _, _ = strings.Cut(f[target], " ")
	} else if f[target] == "" {
		f[target] = f[path]
		if q := strings.TrimPrefix(present(f[query]), "?"); q != "" {
			f[target] += "?" + q
		}
	}
	if !isStatus(f[status]) {
		return e, false, datacite.Invalidf("", datacite.CodeSyntax,
			"status is %.100q, not three digits such as 200%s", f[status], w.cure())
	}
	if !slices.Contains([]string{"200", "206", "304"}, f[status]) {
		return e, false, nil // of a request that failed, the method may be anything
	}
	if !isMethod(f[method]) {
		return e, false, datacite.Invalidf("", datacite.CodeSyntax,
			"method is %.100q, not one such as GET%s", f[method], w.cure())
	}
	if f[method] != http.MethodGet && f[method] != http.MethodPost {
		return e, false, nil
	}
	to, ok, err := w.find(unescape(f[target]))
	if err != nil || !ok {
		return e, false, err
	}
	if e.Address, err = w.visitor(present(f[address]), present(f[forwarded])); err != nil {
		return e, false, err
	}
	e.User = present(f[user])
	if e.Address == "" && e.User == "" {
		return e, false, datacite.Invalidf("", datacite.CodeAddress, "address is missing, and there is no login")
	}
	e.DOI, e.Request, e.URL = to.DOI, to.Request, present(f[host])+f[target]
	e.Agent = present(unescape(f[agent]))
	return e, true, nil
}

// cure says what to do about a line in which something stands in the wrong place.
func (w *webLog) cure() string {
	if w.Layout != "" {
		return "; is the layout that of this log?"
	}
	return "; the log has a layout of its own, which has to be named"
}

// isStatus tells whether a text is the status of a response. Some servers log 000 if there was none.
func isStatus(text string) bool {
	_, err := strconv.ParseUint(text, 10, 0)
	return len(text) == 3 && err == nil
}

// isMethod tells whether a text may be the method of a request, which servers compare with case.
func isMethod(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < 'A' || c > 'Z') && (i == 0 || c != '-' && c != '_') {
			return false
		}
	}
	return text != ""
}

// split splits a line by the first layout that fits. Which one that is does not depend on the
// lines before it.
func (w *webLog) split(line string, f *fields) bool {
	for i, l := range w.layouts {
		if l.split(line, f) {
			w.last = i
			return true
		}
		*f = fields{}
	}
	return false
}

// visitor returns the address of the visitor: the last one of the list and the connection
// that is of no proxy, or else the first. A proxy is what Options.Proxies has and, where
// there is a list, any private address.
func (o *Options) visitor(peer, list string) (string, error) {
	if list == "" && peer == "" {
		return "", nil
	}
	if list == "" {
		return o.address("address", peer)
	}
	chain := strings.Split(list, ",")
	if peer != "" {
		chain = append(chain, peer)
	}
	client := access.Visitor(slices.Backward(chain), func(ip netip.Addr) bool {
		return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || access.Has(o.Proxies, ip)
	})
	if client == "" {
		return o.address("X-Forwarded-For", list)
	}
	return client, nil
}

// address checks what stands where an address belongs, and returns it without a port.
func (o *Options) address(name, text string) (string, error) {
	if o.Pseudonyms || isIPv4(text) {
		return text, nil
	}
	ip, ok := access.Address(text)
	if !ok {
		return "", datacite.Invalidf("", datacite.CodeAddress, "%s is %.100q, not an IP address", name, text)
	}
	return ip.String(), nil
}

// isIPv4 tells whether a text is such an address as netip writes it, in a fraction of the time.
func isIPv4(text string) bool {
	dots, number, digits := 0, 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9' && (digits == 0 || number > 0):
			digits++
			if number = number*10 + int(c-'0'); number > 255 {
				return false
			}
		case c == '.' && digits > 0:
			dots, number, digits = dots+1, 0, 0
		default:
			return false
		}
	}
	return dots == 3 && digits > 0
}

// unescape undoes what servers do to quotation marks and control characters.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	if plain, err := strconv.Unquote(`"` + text + `"`); err == nil {
		return plain
	}
	return text
}
