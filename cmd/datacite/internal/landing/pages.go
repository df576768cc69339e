package landing

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
)

// Pages are those to ask. They are kept in a temporary file, and of each the place there in memory.
type Pages struct {
	file  *os.File
	out   *bufio.Writer
	size  int64
	count int
	hosts map[string][]int64 // places, by host
	err   error              // the first of Add
}

// NewPages begins without pages. Close removes the file.
func NewPages() (*Pages, error) {
	file, err := os.CreateTemp("", "datacite-pages-*")
	if err != nil {
		return nil, err
	}
	return &Pages{file: file, out: bufio.NewWriter(file), hosts: map[string][]int64{}}, nil
}

// Add adds a page. Check returns an error of the file.
func (p *Pages) Add(page Page) {
	line, err := json.Marshal(page)
	if err == nil {
		_, err = p.out.Write(append(line, '\n'))
	}
	if p.err == nil {
		p.err = err
	}
	host := hostOf(page.URL)
	p.hosts[host] = append(p.hosts[host], p.size)
	p.size += int64(len(line)) + 1
	p.count++
}

// Len is how many there are.
func (p *Pages) Len() int { return p.count }

// Close removes the file.
func (p *Pages) Close() error { return errors.Join(p.file.Close(), os.Remove(p.file.Name())) }

func (p *Pages) flush() error { return errors.Join(p.err, p.out.Flush()) }

// names are the hosts, those with the most pages first: they take longest.
func (p *Pages) names() []string {
	return slices.SortedFunc(maps.Keys(p.hosts), func(a, b string) int {
		if more := len(p.hosts[b]) - len(p.hosts[a]); more != 0 {
			return more
		}
		return strings.Compare(a, b)
	})
}

// of are the pages of a host.
func (p *Pages) of(host string) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for _, place := range p.hosts[host] {
			var page Page
			err := json.NewDecoder(io.NewSectionReader(p.file, place, p.size-place)).Decode(&page)
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}

// hostOf is "" for what is no URL.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}
