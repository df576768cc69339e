package reports

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"time"
)

// MaxSubsetBytes is the most compressed bytes that the deployed service stores
// of one subset.
const MaxSubsetBytes = 16_777_215

// SubmitOptions are what [Client.Submit] can do without.
type SubmitOptions struct {
	ID      string // id of the report, a UUID; "" means that of the report that is there already, else DeriveID
	HelpURL string // goes into the exception that says the report is compressed

	BadRows  BadRows        // what to do with a dataset that breaks a rule; 0 means StopAtBadRows
	Repeats  Repeats        // what to do with a DOI that occurs twice; 0 means RefuseRepeats
	Warn     func(Finding)  // called for each dataset that looks wrong and is sent all the same
	Overlap  bool           // send while the source is still read: sooner done, but an error of the source or a bad row then leaves a report that is cut short
	Progress func(Progress) // called after each subset that was built or stored, one call at a time; be quick

	MaxDatasets int   // most datasets in a subset; 0 means 50,000, which is also the most
	MaxBytes    int64 // most compressed bytes in a subset; 0 means MaxSubsetBytes
	Level       int   // compression from 1, fast, to 9, small; 0 means 6
	Workers     int   // how many compress at once; 0 means 2, or 1 on a single processor

	SpoolMemory int64  // bytes of finished subsets held in memory until they are sent; more go to a temporary file; 0 means 1 MiB
	TempDir     string // folder for temporary files; "" means the system's. Runs that share it notice each other

	// Settle is how long the service may still work on a request after the
	// connection was lost. A subset whose answer was lost is sent again only when
	// the service has not shown it for so long. 0 means 5 minutes.
	Settle time.Duration
	// Patience is how long Submit goes on asking a service that does not answer,
	// or says that the report is being written. 0 means 30 minutes.
	Patience time.Duration
}

// BadRows says what [Client.Submit] does with a dataset that breaks a rule.
type BadRows int

const (
	// StopAtBadRows fails before anything is sent, naming the first faults.
	StopAtBadRows BadRows = iota
	// LeaveOutBadRows sends the others; Receipt.LeftOut lists what was left out.
	LeaveOutBadRows
)

// A Stage is what a submission is doing.
type Stage string

// The stages of a submission.
const (
	Building Stage = "building" // reading, checking and compressing the datasets
	Sending  Stage = "sending"
)

// Progress tells how far a submission has come.
type Progress struct {
	Stage    Stage
	ReportID string // "" while building
	Subsets  int    // built, or stored, so far
	Of       int    // subsets of the whole report; 0 while that is not known
	Datasets int64  // in the Subsets
	Bytes    int64  // of the Subsets, compressed
}

// A Receipt says what the service holds after [Client.Submit].
type Receipt struct {
	ReportID string
	Header   Header   // as sent
	Subsets  []Subset // in the order stored
	Datasets int64    // in all subsets

	Sent    int           // how many of the Subsets this call sent; the others were there already
	LeftOut []*FieldError // faults of the datasets that were left out, the first 100
	Skipped int64         // how many datasets were left out
}

// A Subset is one compressed part of a report.
type Subset struct {
	Checksum string // SHA-256 of the compressed bytes, in hexadecimal digits; the service uses the same
	Datasets int    // 0 if that is not known, of a part that another program compressed
	Bytes    int64  // compressed
}

// Submit makes the service's report of the header's creator and month hold
// exactly the datasets of src, each once, and running it again changes nothing.
//
// First src is read to its end: every dataset is validated, compressed, and kept
// in subsets of at most 50,000, in memory or in a temporary file. Faults come
// back as a [*ValidationError], and an error of src as it is, with nothing
// changed on the service. Then Submit looks at what the service holds, and does
// nothing if that is the report, goes on where an earlier run stopped, or starts
// over. It sends a PUT, which clears what was there, and a POST for each further
// subset, strictly one after the other (specification §4.1, Large reports, 4).
//
// A POST adds its subset each time it arrives. So when an answer is lost, Submit
// looks whether the subset arrived before it sends it again, and allows for a
// service that is still at work (Settle). What it cannot bring to an end is a
// [*SubmitError] that says what is stored; running Submit again with the same
// data goes on from there.
//
// The header gets the exception 69 that compressed reports carry.
//
// Two runs for one report must not go on at once, since the service has no lock.
// The second one on a machine notices, by a small file in TempDir, and fails with
// [ErrBusy]; a run after one that was killed waits until the request that may
// still be under way is surely over. Between machines a run notices what changes
// while it looks and what does not belong into the answers it gets; see to it
// that a report is submitted from one place.
func (c *Client) Submit(ctx context.Context, h Header, src iter.Seq2[Dataset, error], opts *SubmitOptions) (*Receipt, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if c.token.source == nil {
		return nil, fmt.Errorf("reports.Submit: %w", ErrUnauthorized)
	}
	claim, err := c.claim(ctx, h, o)
	if err != nil {
		return nil, err
	}
	defer claim.release()

	s := &submission{client: c, header: h.withCompressed(o.HelpURL), options: o, claim: claim, spool: spool{limit: o.SpoolMemory, dir: o.TempDir}}
	defer s.spool.close()
	b, err := newBuild(s, src)
	if err != nil {
		return nil, err
	}
	defer b.close()
	if o.Overlap {
		err = s.overlapped(ctx, b)
	} else {
		err = s.declared(ctx, b)
	}
	if err != nil {
		return nil, err
	}
	return &Receipt{
		ReportID: s.id, Header: s.header, Subsets: s.subsets(len(s.plan)), Datasets: s.datasets(len(s.plan)),
		Sent: s.sent, LeftOut: b.leftOut, Skipped: b.skipped,
	}, nil
}

func (o *SubmitOptions) withDefaults() (SubmitOptions, error) {
	if o == nil {
		o = &SubmitOptions{}
	}
	out := *o
	out.MaxDatasets = cmp.Or(o.MaxDatasets, MaxDatasets)
	out.MaxBytes = cmp.Or(o.MaxBytes, MaxSubsetBytes)
	out.Level = cmp.Or(o.Level, 6)
	out.Workers = cmp.Or(o.Workers, min(2, runtime.GOMAXPROCS(0)))
	out.SpoolMemory = cmp.Or(o.SpoolMemory, 1<<20)
	out.Settle = cmp.Or(o.Settle, 5*time.Minute)
	out.Patience = cmp.Or(o.Patience, 30*time.Minute)
	for _, f := range []struct {
		name             string
		value, low, high int64
	}{
		{"MaxDatasets", int64(out.MaxDatasets), 1, MaxDatasets},
		{"MaxBytes", out.MaxBytes, 1, MaxSubsetBytes},
		{"Level", int64(out.Level), 1, 9},
		{"Workers", int64(out.Workers), 1, 1024},
		{"SpoolMemory", out.SpoolMemory, 1, 1 << 50},
		{"Settle", int64(out.Settle), 1, 1 << 62},
		{"Patience", int64(out.Patience), 1, 1 << 62},
	} {
		if f.value < f.low || f.value > f.high {
			return out, &FieldError{"SubmitOptions." + f.name, fmt.Sprintf("is %d, not between %d and %d", f.value, f.low, f.high)}
		}
	}
	if out.ID != "" {
		return out, checkUUID("SubmitOptions.ID", out.ID)
	}
	return out, nil
}

// A submission is one Submit: what is to be stored, and what is known to be.
type submission struct {
	client  *Client
	header  Header
	options SubmitOptions
	claim   *claim
	id      string

	plan  []Subset
	whole bool // the plan is complete

	// Subsets that are stored, and hold just what the first covered planned ones
	// do: another compressor made them, or they were cut elsewhere.
	accepted []Subset
	covered  int
	listed   []Subset // by an answer, if they are not those that were expected

	spool spool // the bodies of the plan
	sent  int
}

// body is that of planned subset i.
func (s *submission) body(i int) *io.SectionReader {
	var at int64
	for _, p := range s.plan[:i] {
		at += p.Bytes
	}
	return io.NewSectionReader(&s.spool, at, s.plan[i].Bytes)
}

// subsets are those that hold the first n planned ones.
func (s *submission) subsets(n int) []Subset {
	return slices.Concat(s.accepted, s.plan[min(s.covered, n):n])
}

func (s *submission) datasets(n int) (sum int64) {
	for _, p := range s.plan[:n] {
		sum += int64(p.Datasets)
	}
	return sum
}

func (s *submission) progress(stage Stage, done int) {
	if s.options.Progress == nil {
		return
	}
	p := Progress{Stage: stage, ReportID: s.id, Subsets: done, Datasets: s.datasets(done)}
	for _, part := range s.plan[:done] {
		p.Bytes += part.Bytes
	}
	if s.whole {
		p.Of = len(s.plan)
	}
	s.options.Progress(p)
}

// declared sends a report that has been built to its end.
func (s *submission) declared(ctx context.Context, b *build) error {
	err := b.run(ctx, &s.spool, func(p Subset) error {
		s.plan = append(s.plan, p)
		s.progress(Building, len(s.plan))
		return nil
	})
	if err != nil {
		return err
	}
	s.whole = true
	if s.id, err = s.client.reportID(ctx, s.header, s.options.ID); err != nil {
		return err
	}
	done, err := s.resume(ctx)
	if err != nil {
		return err
	}
	for i := done; i < len(s.plan); i++ {
		if err := s.deliver(ctx, i); err != nil {
			return err
		}
		s.sent++
		s.progress(Sending, i+1)
	}
	return nil
}

// overlapped sends each subset while the next one is being built. What is
// stored is not compared first: nobody knows yet what the report will hold.
func (s *submission) overlapped(ctx context.Context, b *build) (err error) {
	if s.id, err = s.client.reportID(ctx, s.header, s.options.ID); err != nil {
		return err
	}
	var refused error // what a subset failed with says more than what pack then ends with
	err = b.run(ctx, &s.spool, func(p Subset) error {
		s.plan = append(s.plan, p)
		if refused = s.deliverNext(ctx); refused != nil {
			return refused
		}
		s.progress(Sending, len(s.plan))
		return nil
	})
	switch {
	case refused != nil:
		return refused
	case err != nil && len(s.plan) > 0:
		return s.failed(len(s.plan), Incomplete, err)
	}
	s.whole = true
	return err
}

// deliverNext delivers the last planned subset. If the first one is all that is
// stored already, it is not sent: whether it arrived could not be seen.
func (s *submission) deliverNext(ctx context.Context) error {
	i := len(s.plan) - 1
	if i == 0 {
		f, err := s.firstLook(ctx)
		if err != nil || f.is(1) {
			return err
		}
	}
	if err := s.deliver(ctx, i); err != nil {
		return err
	}
	s.sent++
	return nil
}

// Each makes a source for [Client.Submit] of a slice.
func Each(datasets []Dataset) iter.Seq2[Dataset, error] {
	return func(yield func(Dataset, error) bool) {
		for _, d := range datasets {
			if !yield(d, nil) {
				return
			}
		}
	}
}
