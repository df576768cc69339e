// Package versions compares the numbers that versions of a report, or several reports, give to DOI records.
package versions

import (
	"encoding/json"
	"iter"

	"github.com/datacite-go/datacite-go/internal/extsort"
)

// A Number is a count of a DOI, and the reports that have it.
type Number struct {
	Name   string `json:"name"`
	Metric string `json:"metric"`
	In     []int  `json:"in"` // the reports, in ascending order, each once
	// Count: of the first one but the plan; of several in that report, the greatest
	Count    int64           `json:"count"`
	About    json.RawMessage `json:"about,omitempty"`    // the dataset without its counts, where needed
	Replaced bool            `json:"replaced,omitempty"` // in notes: by the plan

	Planned int64 `json:"-"` // the count of the plan
}

// Which version has a number, in a comparison of versions.
const (
	Plan int = iota
	Stored
	Earlier // one that is no longer stored
)

// A Comparison sorts numbers outside memory.
type Comparison struct {
	Used bool // leaves out counts of 0

	sorter extsort.Sorter
	key    []byte
}

const memory = 16 << 20 // bytes

// New returns a comparison whose temporary file lies in a folder. The caller closes it.
func New(folder string) *Comparison {
	return &Comparison{sorter: extsort.Sorter{Memory: memory, Dir: folder}}
}

// Close removes the temporary file.
func (c *Comparison) Close() error { return c.sorter.Close() }

// Add adds a number of one report.
func (c *Comparison) Add(n *Number) error {
	if c.Used && n.Count == 0 {
		return nil
	}
	value, err := json.Marshal(n)
	if err != nil {
		return err
	}
	c.key = append(append(append(c.key[:0], n.Name...), 0), n.Metric...)
	return c.sorter.Add(c.key, value)
}

// also adds the same number of another report, or a further one of the same.
func (n *Number) also(m *Number) {
	report := m.In[0]
	if n.About == nil || report != Earlier && m.Count > n.Count {
		n.Count, n.About = m.Count, m.About
	}
	if n.In[len(n.In)-1] != report {
		n.In = append(n.In, report)
	}
}

// Numbers yields the numbers of all reports, sorted by DOI and metric. They were added
// in the order of the reports.
func (c *Comparison) Numbers() iter.Seq2[*Number, error] {
	return func(yield func(*Number, error) bool) {
		var current *Number
		for value, err := range c.sorter.Values() {
			n := new(Number)
			if err == nil {
				err = json.Unmarshal(value, n)
			}
			switch {
			case err != nil:
				yield(nil, err)
				return
			case current != nil && n.Name == current.Name && n.Metric == current.Metric:
				current.also(n)
				continue
			case current != nil && !yield(current, nil):
				return
			}
			if current = n; n.In[0] == Plan {
				n.Planned = n.Count
			}
		}
		if current != nil {
			yield(current, nil)
		}
	}
}
