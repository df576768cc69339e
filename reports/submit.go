package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/runlock"
	"github.com/datacite-go/datacite-go/internal/tempfile"
)

// MaxSubsetBytes is the most compressed bytes that the deployed service stores
// of one subset.
const MaxSubsetBytes = 16_777_215

// SubmitOptions are the optional settings of [Client.Submit].
type SubmitOptions struct {
	ID      string // id of the report, a UUID; "" means that of the report that is there already, else DeriveID
	HelpURL string // goes into the exception that says the report is compressed

	// MergeRepeats adds up the counts of consecutive datasets with the same DOI, as in a
	// source that is sorted by DOI. Each is checked first. Different or several periods,
	// and sums that overflow, are a [*datacite.FieldError]; everything but the counts is
	// taken from the first one. Without it, and for datasets that are not consecutive, a
	// repeated DOI is a fault: the service's consumer keeps one entry for each DOI.
	MergeRepeats bool
	// LeaveOut is called with the faults of each dataset that is left out because of
	// them, the first 100, and its DOI, or "". If LeaveOut is nil, a fault is an error.
	LeaveOut func(doi string, faults []*datacite.FieldError)
	// AllowImpossible sends counts that cannot be: in a month and for one access
	// method, more unique than total ones, more requests than investigations, more by
	// countries than in all. The service stores them. Without it they are a fault.
	AllowImpossible bool
	Warn            func(Finding)  // called for each finding that does not stop the submission
	Progress        func(Progress) // called after each subset is built or stored, and before each wait; must not block

	MaxDatasets int   // most datasets in a subset; 0 means 50,000, which is also the most
	MaxBytes    int64 // most compressed bytes in a subset; 0 means MaxSubsetBytes
	Level       int   // compression from 1, fast, to 9, small; 0 means 6
	Workers     int   // how many compress at once; 0 means 2, or 1 on a single processor

	TempDir string // folder for the temporary file that holds the subsets until they are sent; "" means the system's

	// LockDir is the folder that holds, for each report, its lock and a record of
	// what was last sent and seen. Runs that share it, of whatever account, never
	// submit one report at once, and know what the others left. "" means that of the
	// environment variable DATACITE_LOCK_DIR, or else /tmp, whatever TMPDIR says, and
	// %ProgramData% on Windows: all accounts of the machine share it. A container, and
	// a systemd service with PrivateTmp, has a /tmp of its own: name a folder that all
	// runs share and that lasts. One that several accounts write to has to have the
	// sticky bit (mode 1777), as /tmp has; each can then delay the others' runs, and
	// no more. A record has a few bytes, and is removed by a later run of the same
	// account once it is a week old.
	LockDir string

	// MaxProcessing is the longest time that the service may go on processing a
	// request after its connection was lost. Until then nothing else is written,
	// unless the service shows that it has finished. 0 means 5 minutes: the deployed
	// service took 20 to 50 seconds for a full subset on a machine of its own,
	// gateways give up after 60, and a service under load needs several times as
	// long. If every answer is lost, each subset takes this long.
	MaxProcessing time.Duration
	// MaxOutage is how long the service may be unreachable, or unable to read the
	// report, before Submit gives up. 0 means 30 minutes, several times
	// MaxProcessing: a report is unreadable while another program writes to it, so
	// with less than MaxProcessing Submit never calls it broken.
	MaxOutage time.Duration
}

// A Stage is a phase of a submission.
type Stage string

// The stages of a submission.
const (
	Building Stage = "building" // reading, checking and compressing the datasets
	Sending  Stage = "sending"
	Waiting  Stage = "waiting" // before the next look at the service; Progress.Reason says why
)

// Progress tells how far a submission has come.
type Progress struct {
	Stage    Stage
	ReportID string // "" while building
	Subsets  int    // built, or stored, so far
	Total    int    // subsets of the whole report; 0 while it is being built
	Datasets int64  // in the Subsets
	Bytes    int64  // of the Subsets, compressed

	Reason string    // while waiting: what for
	Until  time.Time // while waiting: the latest end; it may end sooner
}

// A Receipt says what the service holds after [Client.Submit].
type Receipt struct {
	ReportID string
	Header   Header   // as stored
	Subsets  []Subset // those of Datasets; the service keeps no order of them
	Datasets int64    // in all subsets

	Sent int // how many of the Subsets this call sent; the others were stored before
}

// A Subset is one compressed part of a report.
type Subset struct {
	Checksum string // SHA-256 of the compressed bytes, in hexadecimal digits; the service uses the same
	Datasets int    // 0 if not known, for a part that another program compressed
	Bytes    int64  // compressed
}

// Submit makes the service's report of the header's creator and month hold
// exactly the datasets of src, each once, and running it again changes nothing.
//
// First src is read to its end: every dataset is validated and compressed, and
// subsets of at most 50,000 are kept in memory or in a temporary file, which a src
// that never ends fills until ctx ends. Faults are
// returned as a [*ValidationError], an error of src is wrapped; nothing has changed
// on the service then. Then Submit looks at what the service holds, and does
// nothing if that is the report, goes on where an earlier run stopped, or starts
// over. It sends a PUT, which clears what was there, and a POST for each further
// subset, strictly one after the other (specification §4.1, Large reports, 4).
//
// A POST adds its subset each time it arrives, and two writes at once make a
// report permanently unreadable. So when an answer is lost, Submit waits and looks
// before it sends anything again (MaxProcessing); Progress gives the reason. If it
// cannot finish, the error is a [*SubmitError] that says what is stored; running
// Submit again with the same data goes on from there.
//
// The service lets any account replace any report. Submit compares the account
// that a stored report shows, if it shows one, with that of the token, and its
// creator and month with the header's; if they differ it sends nothing, and the error matches
// [datacite.ErrConflict]. The name of the creator and the report id of a stored report
// never change: the service treats "repo" as "Repo". Warn is called, and
// Receipt.Header has them as stored.
//
// The header gets the exception 69 that compressed reports carry. A missing,
// malformed or expired token, and a folder that cannot hold temporary files, are
// errors before src is read. All callbacks run on the caller's goroutine.
//
// Two runs must not submit one report at the same time, since the service has no
// lock. On one machine the second one fails with [ErrBusy] while the first is alive,
// and a run after one that was killed waits until a request that may still be in
// progress has certainly ended. Across machines, a run only notices changes between
// its looks and unexpected subsets in answers: submit a report from one machine.
func (c *Client) Submit(ctx context.Context, h Header, src iter.Seq2[Dataset, error], opts *SubmitOptions) (*Receipt, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if src == nil {
		return nil, &datacite.FieldError{Path: "src", Reason: "is nil"}
	}
	account, err := c.token.account(ctx)
	if err != nil {
		return nil, fmt.Errorf("reports.Submit: %w", err)
	}
	s := &submission{client: c, account: account, header: h.withCompressed(o.HelpURL), options: o}
	if s.bodies, err = tempfile.Create(o.TempDir); err != nil {
		return nil, fmt.Errorf("reports.Submit: no temporary file can be created (SubmitOptions.TempDir, or TMPDIR in the environment): %w", err)
	}
	defer tempfile.Remove(s.bodies)
	if s.lock, err = c.lock(o.LockDir, &h); err != nil {
		return nil, err
	}
	defer s.lock.Release()
	if err := s.build(ctx, src); err != nil {
		return nil, err
	}
	if err := s.findReport(ctx); err != nil {
		return nil, err
	}
	if err := s.deliver(ctx); err != nil {
		return nil, err
	}
	h = s.header
	h.CreatedBy, h.ReportID = cmp.Or(s.kept.CreatedBy, h.CreatedBy), cmp.Or(s.kept.ReportID, h.ReportID)
	return &Receipt{
		ReportID: s.id, Header: h, Subsets: s.subsets(len(s.plan)), Datasets: s.datasets(len(s.plan)),
		Sent: s.sent,
	}, nil
}

// lock excludes other runs on this machine. The service finds a report by the creator's
// name and the month, and its database compares names without regard to case and accents.
func (c *Client) lock(folder string, h *Header) (*runlock.Lock, error) {
	name := collate.New(language.Und, collate.Loose).KeyFromString(&collate.Buffer{}, strings.TrimSpace(h.CreatedBy))
	year, month := h.ReportingPeriod.yearMonth()
	lock, err := runlock.Take(folder, fmt.Sprintf("%x\n%s\n%s\n%s", name, year, month, c.core.BaseURL()))
	switch {
	case errors.Is(err, runlock.ErrHeld):
		return nil, fmt.Errorf("reports.Submit: %w: %w", ErrBusy, err)
	case err != nil:
		return nil, fmt.Errorf("reports.Submit: the lock of the report (SubmitOptions.LockDir): %w", err)
	}
	return lock, nil
}

func (o *SubmitOptions) withDefaults() (SubmitOptions, error) {
	if o == nil {
		o = &SubmitOptions{}
	}
	out := *o
	out.MaxDatasets = cmp.Or(o.MaxDatasets, MaxDatasets)
	out.MaxBytes = cmp.Or(o.MaxBytes, MaxSubsetBytes)
	out.Level = cmp.Or(o.Level, gzipbody.DefaultLevel)
	out.Workers = cmp.Or(o.Workers, min(2, runtime.GOMAXPROCS(0)))
	out.TempDir = cmp.Or(o.TempDir, os.TempDir())
	out.LockDir = cmp.Or(o.LockDir, runlock.Folder())
	out.MaxProcessing = cmp.Or(o.MaxProcessing, 5*time.Minute)
	out.MaxOutage = cmp.Or(o.MaxOutage, 30*time.Minute)
	var faults []error
	for _, f := range []struct {
		name             string
		value, low, high int64
	}{
		{"MaxDatasets", int64(out.MaxDatasets), 1, MaxDatasets},
		{"MaxBytes", out.MaxBytes, 1, MaxSubsetBytes},
		{"Level", int64(out.Level), 1, 9},
		{"Workers", int64(out.Workers), 1, 1024},
		{"MaxProcessing", int64(out.MaxProcessing), 1, 1 << 62},
		{"MaxOutage", int64(out.MaxOutage), 1, 1 << 62},
	} {
		if f.value < f.low || f.value > f.high {
			faults = append(faults, &datacite.FieldError{Path: "SubmitOptions." + f.name, Reason: fmt.Sprintf("is %d, not between %d and %d", f.value, f.low, f.high)})
		}
	}
	if out.ID != "" {
		faults = append(faults, checkUUID("SubmitOptions.ID", out.ID))
	}
	return out, errors.Join(faults...)
}

// A submission is one Submit: what is to be stored, and what is known of it.
type submission struct {
	client  *Client
	account string // of the token
	header  Header
	options SubmitOptions
	lock    *runlock.Lock
	id      string
	kept    Header // CreatedBy and ReportID of the report that is there: the service never changes them

	plan     []Subset
	whole    bool // the plan is complete
	reported int  // subsets that Progress was told of as stored
	sent     int
	bodies   *os.File     // of the plan, one after the other
	sums     []contentSum // of the first subsets of the plan, where needed

	// Subsets that are stored, and hold just what the first covered planned ones
	// do: another compressor made them, or they were cut elsewhere.
	accepted []Subset
	covered  int
	listed   []Subset // by the last answer, if they are not those that were expected
}

// findReport decides which report to write: the one asked for, the one that is
// there, or the one whose id follows from creator and month. Since the service
// finds the report of a POST by creator and month alone, another id for the same
// month would send the later subsets into the other report.
func (s *submission) findReport(ctx context.Context) error {
	found, err := s.client.find(ctx, "reports.Submit", s.header)
	asked := s.options.ID
	switch {
	case err != nil:
		return err
	case found == nil:
		s.id = cmp.Or(asked, DeriveID(s.header))
	case asked != "" && !strings.EqualFold(asked, found.ID):
		return fmt.Errorf("reports.Submit: %w: the service holds report %s of %q for %s, not %s",
			datacite.ErrConflict, found.ID, found.Header.CreatedBy, s.header.ReportingPeriod.BeginDate, asked)
	default:
		s.id = found.ID
		s.keep(&found.Header)
	}
	return nil
}

// keep notes what the service never changes of a stored report.
func (s *submission) keep(stored *Header) {
	if s.kept.CreatedBy != "" || s.options.Warn == nil {
		s.kept.CreatedBy, s.kept.ReportID = stored.CreatedBy, stored.ReportID
		return
	}
	s.kept.CreatedBy, s.kept.ReportID = stored.CreatedBy, stored.ReportID
	for _, m := range []struct{ name, sent, stored string }{
		{"created-by", s.header.CreatedBy, stored.CreatedBy}, {"report-id", s.header.ReportID, stored.ReportID},
	} {
		if m.sent != m.stored {
			s.options.Warn(Finding{"report-header." + m.name, fmt.Sprintf("is %q, and stays %q, as in the stored report", m.sent, m.stored), true})
		}
	}
}

// body is that of planned subset i.
func (s *submission) body(i int) *io.SectionReader {
	var at int64
	for _, p := range s.plan[:i] {
		at += p.Bytes
	}
	return io.NewSectionReader(s.bodies, at, s.plan[i].Bytes)
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

// progress tells that the first done subsets are built or stored.
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
