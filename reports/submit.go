package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/extsort"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/runlock"
)

// SubmitOptions are the optional settings of [Client.Submit]. The package documentation has the details of
// each ("Sending a report", "Several runs").
type SubmitOptions struct {
	// What is sent:
	DryRun            bool   // reads, checks and compresses the data, and sends nothing; it needs no token and takes no lock
	ID                string // id of the report, a UUID; "" means that of the stored report, or else DeriveID
	HelpURL           string // help-url of the exception for compressed reports
	MergeRepeats      bool   // adds up the counts of consecutive datasets with the same DOI; a repeated DOI is a fault otherwise
	AllowInconsistent bool   // sends counts that contradict each other, such as more unique than total ones; a fault otherwise
	ZeroDropped       bool   // sends the count 0 for each number that DOI records show because of an earlier version, and that this one lacks

	// What is compared before anything is sent:
	RefuseLower   bool // a [*LowerError] if a count that DOI records show is lower in the new report, or missing
	CompareOthers bool // calls Warn for each other report of the account for the month that has numbers of the same datasets: records show the sum
	RefuseOthers  bool // the same, but such a report is a [*datacite.ValidationError] with the code reported-twice, and one that cannot be read an error

	// Callbacks, which run on the caller's goroutine:
	LeaveOut func(error) bool       // called for each dataset that has faults, with its DOI (if it has one) and the first 100 faults ([datacite.Findings]); true leaves it out; false, or nil: the faults are an error
	Warn     func(datacite.Finding) // called for each finding that does not stop the submission
	Progress func(Progress)         // called after each subset is built or stored, and before each wait; must not block

	// Subsets and files:
	MaxDatasets int    // most datasets in a subset; 0 means 50,000, which is also the most
	Level       int    // compression from 1, fast, to 9, small; 0 means 6
	TempDir     string // folder for the temporary file that holds the subsets until they are sent; "" means the system's
	LockDir     string // folder of locks and notes that all runs share; "" means that in DATACITE_LOCK_DIR, or else /tmp (%ProgramData% on Windows)

	// Waits:
	MaxProcessing time.Duration // longest time for which the service may still process a request whose connection was lost; 0 means 5 minutes
	MaxOutage     time.Duration // longest time for which the service may be unreachable, not respond, or be unable to read the report; 0 means 30 minutes
}

// A Stage is a phase of a submission.
type Stage string

// The stages of a submission.
const (
	Building Stage = "building" // reading, checking and compressing the datasets
	Sending  Stage = "sending"
	Waiting  Stage = "waiting" // until Submit asks the service again; see Progress.Reason
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

// A Receipt describes the report that the service holds after [Client.Submit].
type Receipt struct {
	ReportID string
	Header   Header   // as stored
	Subsets  []Subset // in the order of the datasets; the service does not keep this order
	Datasets int64    // in all subsets

	Sent int // how many of the Subsets this call stored, also if the response was lost; the others were stored before

	// Kept counts the old numbers that DOI records still show because this version does not
	// contain them. If EarlierUnknown is true, there may be more: SubmitOptions.LockDir
	// does not have all earlier versions of this account, and Warn was called.
	Kept           int64
	EarlierUnknown bool
	// Zeros counts the stored datasets with the count 0 in place of such numbers (see
	// SubmitOptions.ZeroDropped). Datasets includes them.
	Zeros int64
}

// A Subset is one compressed part of a report.
type Subset struct {
	Checksum string // SHA-256 of the compressed bytes, in hexadecimal digits, as the service computes it
	Datasets int    // 0 if not known, for a part that another program compressed
	Bytes    int64  // compressed
}

// Submit makes the stored report of the header's creator and month hold exactly the
// datasets of src, each once. [Source] makes src of a slice, [ReadFile] of a file, [Group] of
// rows, and [Reader.All] of a stored report.
//
// Submit reads and checks src to its end before it sends anything. Faults are a
// [*datacite.ValidationError], and an error of src is wrapped. Then it sends what the stored
// report lacks: nothing if it has the data already. If Submit cannot finish, the error is a
// [*SubmitError], which says what is stored; submit the same data again to continue. While
// another run submits the report, the error matches [ErrBusy]; if the stored report belongs to
// another account, creator or month, [datacite.ErrConflict].
//
// The package documentation has the details ("Sending a report").
func (c *Client) Submit(ctx context.Context, h Header, src iter.Seq2[Dataset, error], opts *SubmitOptions) (_ *Receipt, err error) {
	defer func() { err = c.core.Shown(err) }()
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := c.core.Ready(ctx); err != nil {
		return nil, err
	}
	if src == nil {
		return nil, datacite.Invalid(datacite.Finding{Path: "src", Code: "missing", Reason: "is nil"})
	}
	if warn := o.Warn; warn != nil { // the words of the service may hold secrets
		o.Warn = func(f datacite.Finding) { f.Path, f.Reason = c.core.Text(f.Path), c.core.Text(f.Reason); warn(f) }
	}
	s := &submission{client: c, header: h.withCompressed(o.HelpURL), outage: o.MaxOutage}
	o.MaxProcessing, o.MaxOutage = c.core.Pause(o.MaxProcessing), c.core.Outage(o.MaxOutage)
	s.options = o
	if !o.DryRun {
		token, err := c.token.claims(ctx)
		if err != nil {
			return nil, fmt.Errorf("reports.Submit: %w", err)
		}
		if s.account = token.Account; !c.token.renewable {
			s.expires = token.Expires
		}
	}
	if s.bodies, err = extsort.CreateTemp(o.TempDir); err != nil {
		return nil, fmt.Errorf("reports.Submit: no temporary file can be created (SubmitOptions.TempDir, or TMPDIR in the environment): %w", err)
	}
	defer extsort.RemoveTemp(s.bodies)
	if !o.DryRun {
		if s.lock, err = c.lock("reports.Submit", o.LockDir, &h); err != nil {
			return nil, err
		}
		defer s.lock.Release()
	}
	if err := s.build(ctx, src); err != nil {
		return nil, err
	}
	if s.id = cmp.Or(o.ID, DeriveID(h)); o.DryRun {
		return s.receipt(), nil
	}
	if err := s.deliver(ctx); err != nil {
		return nil, err
	}
	return s.receipt(), nil
}

func (s *submission) receipt() *Receipt {
	h := s.header
	h.CreatedBy, h.ReportID, h.Created = cmp.Or(s.kept.CreatedBy, h.CreatedBy), cmp.Or(s.kept.ReportID, h.ReportID), cmp.Or(s.kept.Created, h.Created)
	return &Receipt{ReportID: s.id, Header: h, Subsets: s.subsets(len(s.plan)), Datasets: s.datasets(len(s.plan)), Sent: s.sent, Kept: s.staying, EarlierUnknown: s.past.unknown, Zeros: s.zeroed}
}

// lock excludes other runs on this machine. The service finds a report by the creator's
// name and the month, and its database compares names without regard to case and accents.
func (c *Client) lock(op, folder string, h *Header) (*runlock.Lock, error) {
	if folder == "" {
		var err error
		if folder, err = runlock.Folder(c.core.LockDir()); err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
	}
	name := collate.New(language.Und, collate.Loose).KeyFromString(&collate.Buffer{}, strings.TrimSpace(h.CreatedBy))
	year, month := h.ReportingPeriod.yearMonth()
	lock, err := runlock.Take(folder, fmt.Sprintf("%x\n%s\n%s\n%s", name, year, month, c.core.BaseURL()))
	switch {
	case errors.Is(err, runlock.ErrHeld):
		return nil, fmt.Errorf("%s: %w: %w", op, ErrBusy, err)
	case err != nil:
		return nil, fmt.Errorf("%s: the lock of the report (SubmitOptions.LockDir, or DATACITE_LOCK_DIR in the environment): %w", op, err)
	}
	return lock, nil
}

func (o *SubmitOptions) withDefaults() (SubmitOptions, error) {
	if o == nil {
		o = &SubmitOptions{}
	}
	out := *o
	out.MaxDatasets = cmp.Or(o.MaxDatasets, MaxDatasets)
	out.Level = cmp.Or(o.Level, gzipbody.DefaultLevel)
	out.TempDir = cmp.Or(o.TempDir, os.TempDir())
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
			faults = append(faults, datacite.Finding{Path: "SubmitOptions." + f.name, Code: "limit", Reason: fmt.Sprintf("is %d, not between %d and %d", f.value, f.low, f.high)})
		}
	}
	if (o.CompareOthers || o.RefuseOthers) && o.Warn == nil {
		path := map[bool]string{true: "SubmitOptions.CompareOthers", false: "SubmitOptions.RefuseOthers"}[o.CompareOthers]
		faults = append(faults, datacite.Finding{Path: path, Code: "missing", Reason: "needs SubmitOptions.Warn, which it calls"})
	}
	if out.ID != "" {
		faults = append(faults, datacite.Findings(checkUUID("SubmitOptions.ID", out.ID))...)
	}
	return out, datacite.Invalid(faults...)
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

	past    past  // what is known of earlier versions
	staying int64 // numbers that records continue to show
	zeroed  int64 // datasets of the zeros
}

// findReport decides which report to write: the one with the given id, the stored one,
// or a new one with an id derived from creator and month. Since the service finds the
// report of a POST by creator and month alone, another id for the same month would
// send the later subsets to the other report.
func (s *submission) findReport(ctx context.Context) error {
	found, err := s.client.find(ctx, "reports.Submit", s.header)
	asked := s.options.ID
	switch {
	case err != nil || found == nil:
		return err
	case asked != "" && !strings.EqualFold(asked, found.ID):
		return fmt.Errorf("%w: the service holds report %s of %q for %s, not %s",
			datacite.ErrConflict, found.ID, found.Header.CreatedBy, s.header.ReportingPeriod.BeginDate, asked)
	default:
		s.id = found.ID
		s.keep(&found.Header)
	}
	return nil
}

// keep notes what the service never changes of a stored report, and warns of it once.
func (s *submission) keep(stored *Header) {
	known := s.kept.CreatedBy != ""
	s.kept.CreatedBy, s.kept.ReportID = stored.CreatedBy, stored.ReportID
	for _, m := range []struct{ name, sent, stored string }{
		{"created-by", s.header.CreatedBy, stored.CreatedBy}, {"report-id", s.header.ReportID, stored.ReportID},
	} {
		if !known && m.sent != m.stored {
			s.warn(datacite.Finding{Path: "report-header." + m.name, Code: "conflict", Reason: fmt.Sprintf("is %q; the stored report keeps %q", m.sent, m.stored), Warning: true})
		}
	}
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
