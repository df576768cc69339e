package reports

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/display"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/runlock"
	"github.com/datacite-go/datacite-go/internal/subset"
	"github.com/datacite-go/datacite-go/internal/versions"
)

// SubmitOptions are the optional settings of [Client.Submit]. The package documentation has the details of
// each ("Sending a report", "Several runs").
type SubmitOptions struct {
	// What is sent:
	// DryRun: reads, checks and compresses the data, and sends nothing; it needs no token and takes no
	// lock
	DryRun  bool
	ID      string // id of the report, a UUID; "" means that of the stored report, or else DeriveID
	HelpURL string // help-url of the exception for compressed reports
	// MergeRepeats: adds up the counts of consecutive datasets with the same DOI; a repeated DOI is a
	// fault otherwise
	MergeRepeats bool
	// AllowInconsistent: sends counts that contradict each other, such as more unique than total ones;
	// a fault otherwise
	AllowInconsistent bool
	// ZeroDropped: sends the count 0 for each number that DOI records show because of an earlier
	// version, and that this one lacks
	ZeroDropped bool

	// What is compared before anything is sent:
	RefuseLower bool // a [*LowerError] if a count that DOI records show is lower in the new report, or missing
	// CompareOthers calls Warn for each other report of the account for the month that has numbers of the
	// same datasets: records show the sum
	CompareOthers bool
	// RefuseOthers: the same, but such a report is a [*datacite.ValidationError] with the code reported-twice, and one
	// that cannot be read an error
	RefuseOthers bool

	// Callbacks, which run on the caller's goroutine:
	// LeaveOut is called for each dataset that has faults, with its DOI (if it has one) and the first 100 faults
	// ([datacite.Findings]); true leaves it out; false, or nil: the faults are an error
	LeaveOut func(error) bool
	Warn     func(datacite.Finding) // called for each finding that does not stop the submission
	Progress func(Progress)         // called after each subset is built or stored, and before each wait; must not block

	// Subsets and files:
	MaxDatasets int    // most datasets in a subset; 0 means 50,000, which is also the most
	Level       int    // compression from 1, fast, to 9, small; 0 means 6
	TempDir     string // folder for the temporary file that holds the subsets until they are sent; "" means the system's
	// LockDir: folder of locks and notes that all runs share; "" means that in DATACITE_LOCK_DIR, or else /tmp
	// (%ProgramData% on Windows)
	LockDir string

	// Waits:
	// MaxProcessing: longest time for which the service may still process a request whose connection
	// was lost; 0 means 5 minutes
	MaxProcessing time.Duration
	// MaxOutage: longest time for which the service may be unreachable, not respond, or be unable to read the
	// report; 0 means 30 minutes
	MaxOutage time.Duration
}

func (o *SubmitOptions) withDefaults() (SubmitOptions, error) {
	if o == nil {
		o = &SubmitOptions{}
	}
	out := *o
	out.MaxDatasets = cmp.Or(o.MaxDatasets, MaxDatasets)
	out.Level = cmp.Or(o.Level, gzipbody.DefaultLevel)
	out.MaxProcessing = cmp.Or(o.MaxProcessing, 5*time.Minute)
	out.MaxOutage = cmp.Or(o.MaxOutage, 30*time.Minute)
	var faults []datacite.Finding
	for _, f := range []struct {
		name             string
		value, low, high int64
	}{
		{"MaxDatasets", int64(out.MaxDatasets), 1, MaxDatasets},
		{"Level", int64(out.Level), 1, 9},
		{"MaxProcessing", int64(out.MaxProcessing), 1, 1 << 62},
		{"MaxOutage", int64(out.MaxOutage), 1, 1 << 62},
	} {
		if f.value < f.low || f.value > f.high {
			faults = append(faults, datacite.Finding{Path: "SubmitOptions." + f.name, Code: datacite.CodeLimit,
				Reason: fmt.Sprintf("is %d, not between %d and %d", f.value, f.low, f.high)})
		}
	}
	if (o.CompareOthers || o.RefuseOthers) && o.Warn == nil {
		path := map[bool]string{true: "SubmitOptions.CompareOthers", false: "SubmitOptions.RefuseOthers"}[o.CompareOthers]
		faults = append(faults, datacite.Finding{Path: path, Code: datacite.CodeMissing,
			Reason: "needs SubmitOptions.Warn, which it calls"})
	}
	if out.ID != "" {
		faults = append(faults, datacite.Findings(checkUUID("SubmitOptions.ID", out.ID))...)
	}
	return out, datacite.Invalid(faults...)
}

// maxSubsetBytes is the most compressed bytes that the deployed service stores
// of one subset.
const maxSubsetBytes = 16_777_215

// packing are the settings of subsets.
func (o *SubmitOptions) packing() subset.Settings {
	return subset.Settings{MaxItems: o.MaxDatasets, MaxBytes: maxSubsetBytes, Workers: min(2, runtime.GOMAXPROCS(0)),
		Level: o.Level}
}

// A Stage is a phase of a submission.
type Stage string

// The stages of a submission.
const (
	StageBuilding Stage = "building" // reading, checking and compressing the datasets
	StageSending  Stage = "sending"
	StageWaiting  Stage = "waiting" // until Submit asks the service again; see Progress.Reason
)

// Progress is the progress of a submission.
type Progress struct {
	Stage    Stage
	ReportID string // "" while building
	Subsets  int    // built, or stored, so far
	Total    int    // subsets of the whole report; 0 while building
	Datasets int64  // in the Subsets
	Bytes    int64  // of the Subsets, compressed

	Reason string    // why Submit waits
	Until  time.Time // when the wait ends at the latest
}

// A submission is one Submit: what is to be stored, and what is known of it.
type submission struct {
	client  *Client
	account string    // of the token
	expires time.Time // the token, if nothing can bring another; zero once Warn was called for it
	header  Header
	options SubmitOptions
	outage  time.Duration // MaxOutage, which is shorter in options if the service is embedded
	lock    *runlock.Lock
	id      string
	found   bool   // the service was asked which report has the id
	kept    Header // CreatedBy and ReportID of the report that is there, which never change, and Created until a PUT

	plan     []Subset
	starts   []int64 // of the bodies of the plan
	whole    bool    // the plan is complete
	reported int     // stored subsets that Progress was called for
	sent     int
	bodies   *os.File
	filled   int64        // bytes of bodies
	sums     []contentSum // of the first subsets of the plan, where needed

	// Stored subsets that hold the same datasets as the first covered planned ones:
	// another release compressed them differently, or cut them at other places.
	accepted []Subset
	covered  int
	listed   []Subset // in the last response, if they are not the expected ones

	outlined display.Dataset // the last one of a comparison

	past    past  // what is known of earlier versions
	staying int64 // numbers that records continue to show
	zeroed  int64 // datasets of the zeros
}

// A past is what a run knows of the earlier versions of a report.
type past struct {
	recalled bool // the fields below are set
	compared bool // the stored version is in the notes
	noted    bool // there are notes
	unknown  bool // there may be versions that this account does not know
}

// keep notes what the service never changes of a stored report, and warns of it once.
func (s *submission) keep(stored *Header) {
	known := s.kept.CreatedBy != ""
	s.kept.CreatedBy, s.kept.ReportID = stored.CreatedBy, stored.ReportID
	for _, m := range []struct{ name, sent, stored string }{
		{"created-by", s.header.CreatedBy, stored.CreatedBy}, {"report-id", s.header.ReportID, stored.ReportID},
	} {
		if !known && m.sent != m.stored {
			s.warn(datacite.Finding{Path: "report-header." + m.name, Code: datacite.CodeConflict,
				Reason: fmt.Sprintf("is %q; the stored report keeps %q", m.sent, m.stored), Warning: true})
		}
	}
}

func (s *submission) warn(f datacite.Finding) {
	if s.options.Warn != nil {
		s.options.Warn(f)
	}
}

// progress reports that the first done subsets are built or stored.
func (s *submission) progress(p Progress, done int) {
	if s.options.Progress == nil {
		return
	}
	p.ReportID, p.Subsets, p.Datasets = s.id, done, s.datasets(done)
	for _, part := range s.plan[:done] {
		p.Bytes += part.Bytes
	}
	if s.whole {
		p.Total = len(s.plan)
	}
	s.options.Progress(p)
}

// body returns the body of planned subset i.
func (s *submission) body(i int) *io.SectionReader {
	return io.NewSectionReader(s.bodies, s.starts[i], s.plan[i].Bytes)
}

// subsets returns the subsets that hold the datasets of the first n planned ones.
func (s *submission) subsets(n int) []Subset {
	return slices.Concat(s.accepted, s.plan[min(s.covered, n):n])
}

func (s *submission) datasets(n int) (sum int64) {
	for _, p := range s.plan[:n] {
		sum += int64(p.Datasets)
	}
	return sum
}

// eachPlanned calls f for each dataset of the plan.
func (s *submission) eachPlanned(f func(*Dataset) error) error {
	for i := range s.plan {
		r, err := NewReader(s.body(i))
		if err != nil {
			return err
		}
		if err := each(r, f); err != nil {
			return err
		}
	}
	return nil
}

// metrics are the types of what records show.
var metrics = [...]MetricType{display.Views: MetricUniqueDatasetInvestigations,
	display.Downloads: MetricUniqueDatasetRequests}

// addNumbers adds to a comparison the numbers that the service would store for a dataset of a
// report. If needed later, the dataset is added, too, without its counts.
func (s *submission) addNumbers(c *versions.Comparison, report int, d *Dataset, whole bool) error {
	d.outline(&s.outlined)
	read := s.outlined.Read("")
	for metric, n := range read.Numbers {
		if read.DOI == "" || len(n.Values) == 0 {
			continue
		}
		one := versions.Number{Name: read.Name, Metric: string(metrics[metric]), Count: n.Values[len(n.Values)-1],
			In: []int{report}}
		if whole {
			about := *d
			about.DatasetID, about.Performance = d.DatasetID[:1], nil
			var err error
			if one.About, err = appendDataset(nil, &about); err != nil {
				return err
			}
		}
		if err := c.Add(&one); err != nil {
			return err
		}
	}
	return nil
}

// A contentSum identifies a set of datasets in any order: their number, and the sum of
// their SHA-256 checksums in four lanes.
type contentSum struct {
	datasets int64
	lanes    [4]uint64
}

// add adds a dataset in the form in which it would be sent. It reuses the memory of entry.
func (c *contentSum) add(d *Dataset, entry *[]byte) (err error) {
	if *entry, err = appendDataset((*entry)[:0], d); err != nil {
		return err
	}
	sum := sha256.Sum256(*entry)
	for i := range c.lanes {
		c.lanes[i] += binary.LittleEndian.Uint64(sum[8*i:])
	}
	c.datasets++
	return nil
}

// sum returns the sum of planned subset i, computed once from its body.
func (s *submission) sum(i int) (contentSum, error) {
	for len(s.sums) <= i {
		r, err := NewReader(s.body(len(s.sums)))
		if err != nil {
			return contentSum{}, err
		}
		sum, err := sumOf(r.Scan())
		if err != nil {
			return contentSum{}, err
		}
		s.sums = append(s.sums, sum)
	}
	return s.sums[i], nil
}

func sumOf(datasets iter.Seq2[*Dataset, error]) (sum contentSum, err error) {
	var entry []byte
	for d, err := range datasets {
		if err != nil {
			return sum, err
		}
		if err := sum.add(d, &entry); err != nil {
			return sum, err
		}
	}
	return sum, nil
}
