package reports

import (
	"flag"
	"fmt"
	"hash/maphash"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var depth = flag.Int("depth", 5, "faults on each way through TestEveryInterleaving")

// TestEveryInterleaving explores everything that can happen to a delivery: each
// order of the service's steps, answers that are lost while the work goes on or
// begins late, connections that cannot be made, looks that fail, servers that die
// in the middle, runs that are killed at any moment and run again, from every
// state in which a report can be. It looks for a run that says something untrue,
// a subset that is stored twice, a report that is broken, and one that cannot be
// finished although nothing fails any more.
func TestEveryInterleaving(t *testing.T) {
	total, longest := 0, 0
	start := time.Now()
	for _, deployed := range []bool{true, false} {
		for subsets := 1; subsets <= 4; subsets++ {
			states, steps, wrong := explore(starts(deployed, subsets, *depth))
			if wrong != "" {
				t.Fatalf("deployed %v, %d subsets:\n%s", deployed, subsets, wrong)
			}
			total, longest = total+states, max(longest, steps)
		}
	}
	t.Logf("%d states, up to %d steps deep, %d faults, in %v", total, longest, *depth, time.Since(start).Round(time.Second))
}

// The times of the model, in minutes: short, because each look is a state.
const (
	modelSettle   = 2 * time.Minute
	modelPatience = 2 * time.Minute
)

// epoch is now, always: a world has all times relative to it.
var epoch = time.Unix(1_000_000_000, 0).UTC()

const foreignContent = 4 // a subset that is not in the plan; 0 to 3 are

// contents counts subsets by content.
type contents [5]uint8

// A world is a service, with requests at work, and a run.
type world struct {
	server
	delivery delivery
	running  bool
	waiting  int8 // the request whose answer is waited for, or -1
	looking  bool // a look that takes long has seen ...
	glimpse  sight
	lookedAt time.Time // ... then
	record   time.Time
	before   contents // what the report showed when the run began
	unknown  bool     // ... or that it could not be seen, or might still change
	result   step     // of a run that has ended

	faults   int8 // left
	attempts int8 // runs since the last fault
	died     bool // a server did, or the report was broken from the start
	wrong    string
}

// A server holds one report as the deployed service does (rows and document) or
// as the specification says (rows alone). The evidence for the steps of a request
// is in testdata/deployed-reports.md.
type server struct {
	deployed bool
	exists   bool
	ours     bool // the header is that of the plan
	rows     [8]row
	attached bool // the report names a document ...
	file     bool // ... which is stored
	document contents
	work     [3]request
	doubled  bool // a planned subset had two rows
	strayed  bool // a POST made another report
}

type row struct {
	used    bool
	content int8
	bytes   bool // kept until the document is stored
}

type request struct {
	used     bool
	put      bool
	content  int8
	step     int8
	creates  bool
	loaded   bool     // it has read the document and knows the rows that were there
	mask     uint8    // the rows that it knows
	rendered contents // the answer, and the document to be
	lost     bool     // nobody waits for the answer
	until    time.Time
}

// put and post are the steps of a request, in the server's order.
const (
	arrive = iota
	check
	detach      // PUT over a report: the document is removed,
	destroy     // and the rows
	insert      // a row is committed
	storeHeader // PUT
	render
	deleteFile // the old document
	storeFile
	clean // the rows' copy of the bytes
	reply
)

func (s *server) see() (c contents, kind sightKind) {
	switch {
	case !s.exists:
		return c, shown
	case !s.deployed || !s.attached:
		for _, r := range s.rows {
			if r.used && s.deployed && !r.bytes {
				return c, unreachable // a failure without a name
			}
			if r.used {
				c[r.content]++
			}
		}
		return c, shown
	case !s.file || !s.consistent():
		return c, unreadable
	}
	return s.document, shown
}

// consistent: each row is in the document.
func (s *server) consistent() bool {
	for _, r := range s.rows {
		if r.used && s.document[r.content] == 0 {
			return false
		}
	}
	return true
}

func (s *server) add(content int8) (mask uint8) {
	for i := range s.rows {
		r := &s.rows[i]
		if r.used {
			s.doubled = s.doubled || r.content == content && content != foreignContent
			continue
		}
		if mask == 0 {
			mask = 1 << i
			*r = row{true, content, true}
		}
	}
	if mask == 0 {
		panic("more rows than the model has")
	}
	return mask
}

func (s *server) known(mask uint8) (c contents) {
	for i, r := range s.rows {
		if mask&(1<<i) != 0 {
			c[r.content]++
		}
	}
	return c
}

func (s *server) all() (mask uint8) {
	for i, r := range s.rows {
		if r.used {
			mask |= 1 << i
		}
	}
	return mask
}

// advance takes the next step of request i. done says that it has ended, and ok
// that it was carried out.
func (s *server) advance(i int8) (done, ok bool) {
	r := &s.work[i]
	if !s.deployed {
		s.atOnce(r)
		return true, true
	}
	switch r.step {
	case arrive:
	case check:
		r.creates = !s.exists
		if r.creates {
			s.strayed = s.strayed || !r.put
			s.exists, s.ours = true, true // report and row are committed together
			r.mask = s.add(r.content)
			r.step = render
			return false, true
		}
		if s.attached && s.file {
			if !s.consistent() {
				return true, false
			}
			r.loaded, r.mask = true, s.all()
		}
		if !r.put {
			r.step = insert
			return false, true
		}
	case detach:
		s.attached, s.file, s.document = false, false, contents{}
	case destroy:
		mask := r.mask
		if !r.loaded {
			mask = s.all()
		}
		for j := range s.rows {
			if mask&(1<<j) != 0 {
				s.rows[j] = row{}
			}
		}
		r.loaded, r.mask = true, 0
	case insert:
		r.mask |= s.add(r.content)
	case storeHeader:
		s.ours = s.ours || r.put
	case render:
		if !r.loaded {
			r.mask = s.all()
			for j, row := range s.rows {
				if r.mask&(1<<j) != 0 && !row.bytes {
					return true, false
				}
			}
		}
		r.rendered = s.known(r.mask)
	case deleteFile:
		s.file = s.file && !s.attached
		s.attached = true
	case storeFile:
		s.file, s.document = true, r.rendered
	case clean:
		for j := range s.rows {
			if r.mask&(1<<j) != 0 {
				s.rows[j].bytes = false
			}
		}
	case reply:
		return true, true
	}
	r.step++
	return false, true
}

// atOnce carries a request out as the specification has it.
func (s *server) atOnce(r *request) {
	s.strayed = s.strayed || !r.put && !s.exists
	if r.put {
		s.rows, s.ours = [8]row{}, true
	}
	s.exists = true
	s.add(r.content)
	r.rendered = s.known(s.all())
}

// starts are the states in which a run may find a report.
func starts(deployed bool, subsets, faults int) (list []world) {
	begin := func(s server, broken bool) {
		s.deployed = deployed
		w := world{server: s, faults: int8(faults), waiting: -1, died: broken}
		w.begin(subsets)
		list = append(list, w)
	}
	with := func(document bool, list ...int8) server {
		s := server{exists: true, ours: true, attached: document, file: document}
		for i, c := range list {
			s.rows[i] = row{true, c, !document}
			if document {
				s.document[c]++
			}
		}
		return s
	}
	begin(server{}, false)
	begin(with(true, foreignContent), false)
	foreign := with(true, foreignContent)
	foreign.ours = false // an uncompressed report, or one with another header
	begin(foreign, false)
	begin(with(false), false) // what a refused PUT leaves
	var part []int8
	for i := range int8(subsets) {
		part = append(part, i)
		begin(with(true, part...), false)
		begin(with(false, part...), false)
		begin(with(true, append(part[:i+1:i+1], foreignContent)...), false)
		begin(with(false, append(part[:i+1:i+1], foreignContent)...), false)
	}
	if deployed {
		broken := with(true, 0)
		broken.document = contents{foreignContent: 1}
		begin(broken, true)
		torn := with(false, 0) // a PUT died between the document and the rows
		torn.rows[0].bytes = false
		begin(torn, true)
	}
	return list
}

// begin starts a run.
func (w *world) begin(subsets int) {
	o := SubmitOptions{Settle: modelSettle, Patience: modelPatience}
	w.delivery = newDelivery(subsets, o, w.record)
	w.delivery.firstPause = time.Minute
	w.running, w.result = true, step{}
	var kind sightKind
	w.before, kind = w.see()
	w.unknown = kind != shown || w.busy()
}

// busy tells whether the service works on something.
func (s *server) busy() bool {
	return s.work[0].used || s.work[1].used || s.work[2].used
}

// sight is how a run reads what the service shows.
func (w *world) sight(c contents, ours bool) sight {
	s := sight{kind: shown}
	total := uint8(0)
	for content, n := range c {
		total += n
		s.foreign = s.foreign || n > 1 || content == foreignContent && n > 0 || n > 0 && content >= w.delivery.subsets
	}
	for s.first < w.delivery.subsets && c[s.first] == 1 {
		s.first++
	}
	s.foreign = s.foreign || int(total) != s.first || total > 0 && !ours
	if s.foreign {
		s.first = 0
	}
	return s
}

// A move is one thing that may happen next.
type move struct {
	label string
	world
}

// moves are all that may happen.
func (w world) moves() (list []move) {
	may := func(label string, change func(*world)) {
		next := w
		change(&next)
		next.tidy()
		list = append(list, move{label, next})
	}
	fault := func(label string, change func(*world)) {
		if w.faults > 0 {
			may("FAULT "+label, func(n *world) {
				n.faults--
				n.attempts = 0
				change(n)
			})
		}
	}
	for i := range int8(len(w.work)) {
		if !w.work[i].used {
			continue
		}
		name := fmt.Sprintf("%v (lost %v)", w.work[i].name(), w.work[i].lost)
		may("service: "+name, func(n *world) { n.serve(i) })
		if w.deployed && w.work[i].step > arrive {
			fault("the server dies: "+name, func(n *world) {
				n.died = true
				n.end(i, false)
			})
		}
	}
	switch {
	case !w.running:
		w.afterwards(may)
	case w.looking:
		end := epoch.Add(modelSettle)
		if w.quietUntil(end) {
			may("the look ends", func(n *world) {
				n.pass(end)
				n.delivery = n.delivery.saw(n.glimpse, n.lookedAt, epoch)
				n.looking, n.glimpse, n.lookedAt = false, sight{}, time.Time{}
			})
		}
	case w.waiting >= 0:
		fault("the answer is lost", func(n *world) { n.lose() })
		fault("the run is killed", func(n *world) { n.kill() })
	default:
		w.act(may, fault)
	}
	return list
}

func (r *request) name() string {
	return fmt.Sprintf("%s of subset %d, step %d", map[bool]string{true: "PUT", false: "POST"}[r.put], r.content, r.step)
}

// act is what the run may do, and what may happen to it.
func (w *world) act(may, fault func(string, func(*world))) {
	next := w.delivery.next(epoch)
	switch next.do {
	case look:
		if !w.quietUntil(next.at) {
			return // the service's steps come first: they end in time
		}
		if d := w.delivery; !next.at.After(epoch) && d.asked.Equal(epoch) && d.seen.kind != unseen {
			may("look", func(n *world) { n.wrong = "it looks again at once, for ever" })
			return
		}
		label := fmt.Sprintf("look after %v (%s)", max(next.at.Sub(epoch), 0), next.why)
		may(label, func(n *world) {
			n.pass(next.at)
			c, kind := n.see()
			s := sight{kind: kind}
			if kind == shown {
				s = n.sight(c, n.ours)
			}
			n.delivery = n.delivery.saw(s, epoch, epoch)
		})
		fault(label+", which takes long", func(n *world) {
			n.pass(next.at)
			c, kind := n.see()
			n.looking, n.lookedAt, n.glimpse = true, epoch, sight{kind: kind}
			if kind == shown {
				n.glimpse = n.sight(c, n.ours)
			}
		})
		fault(label+", without an answer", func(n *world) {
			n.pass(next.at)
			n.delivery = n.delivery.saw(sight{kind: unreachable}, epoch, epoch)
		})
		fault("the run is killed", func(n *world) { n.kill() })
	case send:
		label := fmt.Sprintf("send subset %d", next.subset)
		begin := func(n *world) {
			n.delivery = n.delivery.sending(next.subset)
			n.record = epoch
		}
		may(label, func(n *world) {
			begin(n)
			n.waiting = n.arrives(next.subset)
		})
		fault(label+", which arrives when nobody waits any more", func(n *world) {
			begin(n)
			n.waiting = n.arrives(next.subset)
			n.lose()
		})
		fault(label+", which never arrives", func(n *world) {
			begin(n)
			n.delivery = n.delivery.lostAnswer(epoch)
		})
		fault(label+", without a connection", func(n *world) { begin(n) })
	default:
		may(fmt.Sprintf("the run ends: %d %s", next.do, next.state), func(n *world) {
			n.running, n.result = false, next
		})
	}
}

func (w *world) arrives(subset int) int8 {
	for i := range w.work {
		if !w.work[i].used {
			w.work[i] = request{used: true, put: subset == 0, content: int8(subset)}
			return int8(i)
		}
	}
	panic("more requests than the model has")
}

// lose ends the connection of the request that is waited for. The service goes on
// with it, for as long as Settle at most.
func (w *world) lose() {
	r := &w.work[w.waiting]
	r.lost, r.until = true, epoch.Add(modelSettle)
	w.waiting = -1
	w.delivery = w.delivery.lostAnswer(epoch)
	w.record = epoch
}

func (w *world) kill() {
	if w.waiting >= 0 {
		w.lose()
	}
	w.begin(w.delivery.subsets)
}

// serve takes one step of a request, and hands its end to the run.
func (w *world) serve(i int8) {
	done, ok := w.advance(i)
	if done {
		w.end(i, ok)
	}
}

func (w *world) end(i int8, ok bool) {
	r := w.work[i]
	w.work[i] = request{}
	if w.waiting != i {
		return
	}
	w.waiting = -1
	if !ok {
		w.delivery = w.delivery.lostAnswer(epoch)
		w.record = epoch
		return
	}
	s := w.sight(r.rendered, true)
	if s.foreign || s.first != int(r.content)+1 {
		s = sight{} // only a look can tell
	}
	w.delivery = w.delivery.answered(s, epoch)
}

// quietUntil tells whether all work that has to be over by then is.
func (w *world) quietUntil(at time.Time) bool {
	for _, r := range w.work {
		if r.used && r.lost && !r.until.After(at) {
			return false
		}
	}
	return true
}

// pass lets time pass.
func (w *world) pass(until time.Time) {
	by := until.Sub(epoch)
	if by <= 0 {
		return
	}
	shift := func(t *time.Time) {
		if !t.IsZero() {
			*t = t.Add(-by)
		}
	}
	shift(&w.lookedAt)
	shift(&w.delivery.asked)
	shift(&w.delivery.seenAt)
	shift(&w.delivery.failing)
	shift(&w.delivery.until)
	shift(&w.record)
	for i := range w.work {
		shift(&w.work[i].until)
	}
}

// tidy makes worlds equal that differ in nothing that matters, and looks for
// what is wrong already.
func (w *world) tidy() {
	old := epoch.Add(-24 * time.Hour)
	if w.running && w.delivery.idle(epoch) && w.waiting < 0 && !w.record.IsZero() {
		w.record = old
	}
	if !w.busy() { // nobody knows the rows by their places
		var sorted [8]row
		n := 0
		for content := range int8(len(contents{})) {
			for _, bytes := range []bool{true, false} {
				for _, r := range w.rows {
					if r.used && r.content == content && r.bytes == bytes {
						sorted[n] = r
						n++
					}
				}
			}
		}
		w.rows = sorted
	}
	w.delivery.looks = 0 // pauses do not grow in the model
	for _, t := range []*time.Time{&w.delivery.until, &w.record} {
		if !t.IsZero() && epoch.Sub(*t) > modelSettle {
			*t = old
		}
	}
	switch {
	case w.doubled:
		w.wrong = "a subset is stored twice"
	case w.strayed:
		w.wrong = "a POST made a report of its own"
	case w.running:
	case w.result.do == stop && w.result.state == Disturbed:
		w.wrong = "nobody else wrote"
	case !w.busy():
		w.wrong = w.untrue()
	}
}

// untrue says what is wrong with the word of a run that has ended, now that the
// service is at rest.
func (w *world) untrue() string {
	c, kind := w.see()
	d := w.delivery
	holds := func(n int) bool {
		s := w.sight(c, w.ours || w.result.state == Unclear)
		return kind == shown && !s.foreign && s.first == n
	}
	same := w.unknown || kind == shown && c == w.before
	if kind != shown && !w.died {
		return "the report is broken"
	}
	switch {
	case w.result.do == finish && !holds(d.subsets):
		return "the run ended well, and the report is not complete"
	case w.result.do == finish || kind != shown: // what a dead server left unreadable is not known
	case !d.written && !same:
		return "nothing was sent, and the report changed"
	case w.result.state == Broken && kind == shown:
		return "the report is not broken"
	case w.result.state == Incomplete && !holds(d.stored):
		return fmt.Sprintf("not incomplete with %d", d.stored)
	case w.result.state == Unclear && !holds(d.stored) && !holds(d.stored+1) && !(d.stored == 0 && (same || holds(0))):
		return fmt.Sprintf("not unclear with %d", d.stored)
	case d.written && w.result.state == Untouched && !same:
		return "it was touched"
	}
	return ""
}

// afterwards runs again what did not end well, at once.
func (w *world) afterwards(may func(string, func(*world))) {
	const enough = 3 // attempts without a fault
	switch {
	case w.result.do == finish:
	case w.attempts < enough:
		may("the program runs again", func(n *world) {
			n.attempts++
			n.begin(n.delivery.subsets)
		})
	case !w.died:
		may("and again", func(n *world) { n.wrong = "it cannot be finished, though nothing fails" })
	}
}

// explore visits every world that can be reached, the nearest first, and returns
// how many there are, how many moves away the last one is, and the shortest way
// to one with something wrong.
func explore(from []world) (states, steps int, wrong string) {
	type origin struct {
		parent int32
		label  string
	}
	seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	seen := map[[2]uint64]bool{}
	var origins []origin
	var level, next []world
	first := 0 // place in origins of the first world of the level
	visit := func(w world, o origin) {
		key := [2]uint64{maphash.Comparable(seeds[0], w), maphash.Comparable(seeds[1], w)}
		if seen[key] {
			return
		}
		seen[key] = true
		origins = append(origins, o)
		next = append(next, w)
	}
	story := func(o origin) string {
		lines := []string{o.label}
		for o.parent >= 0 {
			o = origins[o.parent]
			lines = append([]string{o.label}, lines...)
		}
		return strings.Join(lines, "\n")
	}
	for _, w := range from {
		visit(w, origin{-1, fmt.Sprintf("a report with rows %v, document %v %v", w.rows, w.attached, w.document)})
	}
	for len(next) > 0 {
		level, next = next, level[:0:0]
		begin := first
		first = len(origins)
		steps++
		for i, w := range level {
			moves := w.moves()
			for _, m := range moves {
				o := origin{int32(begin + i), m.label}
				if m.wrong != "" {
					return len(seen), steps, story(o) + "\nWRONG: " + m.wrong
				}
				visit(m.world, o)
			}
		}
	}
	return len(seen), steps, ""
}

// The model of the service must be able to break a report, or it proves nothing.
func TestTheModelCanBreak(t *testing.T) {
	s := server{deployed: true}
	start := func(put bool, content int8) int8 {
		for i := range s.work {
			if !s.work[i].used {
				s.work[i] = request{used: true, put: put, content: content}
				return int8(i)
			}
		}
		panic("busy")
	}
	upTo := func(i int8, step int8) {
		for s.work[i].used && s.work[i].step <= step {
			if done, ok := s.advance(i); done {
				require.True(t, ok)
				s.work[i] = request{}
			}
		}
	}
	put := start(true, 0)
	upTo(put, render)
	c, kind := s.see()
	require.Equal(t, shown, kind, "seen before its document is written")
	require.Equal(t, contents{0: 1}, c)
	upTo(start(false, 1), reply)
	c, kind = s.see()
	require.Equal(t, shown, kind)
	require.Equal(t, contents{0: 1, 1: 1}, c)
	upTo(put, reply)
	_, kind = s.see()
	require.Equal(t, unreadable, kind, "the late document lacks the other subset")
}
