package reports

import (
	"encoding/json"
	"iter"

	"github.com/datacite-go/datacite-go/internal/display"
	"github.com/datacite-go/datacite-go/internal/extsort"
)

// A comparison sorts the numbers that versions of a report, or several reports, give to DOI
// records. It sorts outside memory.
type comparison struct {
	sorter   extsort.Sorter
	key      []byte
	outlined display.Dataset
	used     bool // leaves out counts of 0
}

const comparisonMemory = 16 << 20 // bytes

func (s *submission) newComparison() *comparison {
	return &comparison{sorter: extsort.Sorter{Memory: comparisonMemory, Dir: s.options.TempDir}}
}

// add adds the numbers that the service would store for a dataset of a report. If needed
// later, the dataset is added, too, without its counts.
func (c *comparison) add(report int, d *Dataset, whole bool) error {
	d.outline(&c.outlined)
	read := c.outlined.Read("")
	for metric, n := range read.Numbers {
		if read.DOI == "" || len(n.Values) == 0 || c.used && n.Values[len(n.Values)-1] == 0 {
			continue
		}
		one := number{Name: read.Name, Metric: metrics[metric], Count: n.Values[len(n.Values)-1], In: []int{report}}
		if whole {
			about := *d
			about.DatasetID, about.Performance = d.DatasetID[:1], nil
			var err error
			if one.About, err = appendDataset(nil, &about); err != nil {
				return err
			}
		}
		if err := c.put(&one); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) put(n *number) error {
	value, err := json.Marshal(n)
	if err != nil {
		return err
	}
	c.key = append(append(append(c.key[:0], n.Name...), 0), n.Metric...)
	return c.sorter.Add(c.key, value)
}

// metrics are the types of what records show.
var metrics = [...]MetricType{display.Views: UniqueDatasetInvestigations, display.Downloads: UniqueDatasetRequests}

// A number is a count of a DOI, and the reports that have it.
type number struct {
	Name     string          `json:"name"`
	Metric   MetricType      `json:"metric"`
	In       []int           `json:"in"`                 // the reports, in ascending order, each once
	Count    int64           `json:"count"`              // of the first one but the plan; of several in that report, the greatest
	About    json.RawMessage `json:"about,omitempty"`    // the dataset without its counts, where needed
	Replaced bool            `json:"replaced,omitempty"` // in notes: by the plan

	planned int64 // the count of the plan
}

// also adds the same number of another report, or a further one of the same.
func (n *number) also(m *number) {
	report := m.In[0]
	if len(n.About) == 0 || report != inEarlier && m.Count > n.Count {
		n.Count, n.About = m.Count, m.About
	}
	if n.In[len(n.In)-1] != report {
		n.In = append(n.In, report)
	}
}

// numbers yields the numbers of all reports, sorted by DOI and metric. They were added
// in the order of the reports.
func (c *comparison) numbers() iter.Seq2[*number, error] {
	return func(yield func(*number, error) bool) {
		var current *number
		for value, err := range c.sorter.Values() {
			n := new(number)
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
			if current = n; n.In[0] == inPlan {
				n.planned = n.Count
			}
		}
		if current != nil {
			yield(current, nil)
		}
	}
}

// Which version has a number, in a comparison of versions.
const (
	inPlan int = iota
	inStored
	inEarlier // one that is no longer stored
)
