package delivery

import (
	"flag"
	"fmt"
	"hash/maphash"
	"strings"
	"testing"
	"time"

	"github.com/datacite-go/datacite-go/internal/runlock"
)

var depth = flag.Int("depth", 2, "faults on each way through TestEveryInterleaving")

// TestEveryInterleaving explores everything that can happen to a delivery: each
// order of the service's steps, responses that are lost while the work goes on or
// begins late, connections that cannot be made, looks that fail, servers that die
// in the middle, runs that are killed at any moment and run again, from every
// state in which a report can be. It looks for a run that says something untrue,
// a subset that is stored twice, a report that is broken, and one that cannot be
// finished although nothing fails any more.
func TestEveryInterleaving(t *testing.T) {
	total, longest := 0, 0
	for _, deployed := range []bool{true, false} {
		for subsets := 1; subsets <= 4; subsets++ {
			states, steps, wrong := explore(starts(deployed, subsets, *depth))
			if wrong != "" {
				t.Fatalf("deployed %v, %d subsets:\n%s", deployed, subsets, wrong)
			}
			total, longest = total+states, max(longest, steps)
		}
	}
	t.Logf("%d states, up to %d steps deep, %d faults", total, longest, *depth)
}

// The times of the model, in minutes: short, because each look is a state.
const (
	modelProcessing = 2 * time.Minute
	modelOutage     = 2 * time.Minute
)

// epoch is now, always: a world has all times relative to it.
var epoch = time.Unix(1_000_000_000, 0).UTC()

// A world is a service, with requests at work, and a run.
type world struct {
	server
	delivery Run
	running  bool
	waiting  int8 // the request whose response is waited for, or -1
	looking  bool // a look that takes long has seen ...
	glimpse  View
	lookedAt time.Time // ... then
	record   runlock.Record
	before   contents // what the report showed when the run began
	unknown  bool     // ... or that it could not be seen, or might still change
	result   Step     // of a run that has ended

	faults   int8 // left
	attempts int8 // runs since the last fault
	died     bool // a server did, or the report was broken from the start
	wrong    string
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
	w.delivery = New(Settings{subsets, modelProcessing, modelOutage, time.Minute, time.Minute}, w.record, time.Time{})
	w.running, w.result = true, Step{}
	var kind Kind
	w.before, kind = w.see()
	w.unknown = kind != Shown || w.busy()
}

// view is how a run reads what the service shows.
func (w *world) view(c contents, ours bool) View {
	s := View{Kind: Shown}
	total := uint8(0)
	for content, n := range c {
		total += n
		s.Hash = s.Hash<<4 | uint64(n)
		s.Foreign = s.Foreign || n > 1 || content == foreignContent && n > 0 || n > 0 && content >= w.delivery.Subsets
	}
	for s.First < w.delivery.Subsets && c[s.First] == 1 {
		s.First++
	}
	s.Foreign = s.Foreign || int(total) != s.First || total > 0 && !ours
	if s.Foreign {
		s.First = 0
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
		end := epoch.Add(modelProcessing)
		if w.quietUntil(end) {
			may("the look ends", func(n *world) {
				n.pass(end)
				n.delivery = n.delivery.Looked(n.glimpse, n.lookedAt, epoch)
				n.looking, n.glimpse, n.lookedAt = false, View{}, time.Time{}
			})
		}
	case w.waiting >= 0:
		fault("the response is lost", func(n *world) { n.lose() })
		fault("the run is killed", func(n *world) { n.kill() })
	default:
		w.act(may, fault)
	}
	return list
}

// act is what the run may do, and what may happen to it.
func (w *world) act(may, fault func(string, func(*world))) {
	next := w.delivery.Next(epoch)
	switch next.Do {
	case Look:
		if !w.quietUntil(next.At) {
			return // the service's steps come first: they end in time
		}
		if d := w.delivery; !next.At.After(epoch) && d.asked.Equal(epoch) && d.Seen.Kind != Unseen {
			may("look", func(n *world) { n.wrong = "it looks again at once, for ever" })
			return
		}
		label := fmt.Sprintf("look after %v (%s)", max(next.At.Sub(epoch), 0), next.Why)
		may(label, func(n *world) {
			n.pass(next.At)
			c, kind := n.see()
			s := View{Kind: kind}
			if kind == Shown {
				s = n.view(c, n.ours)
			}
			n.delivery = n.delivery.Looked(s, epoch, epoch)
		})
		fault(label+", which takes long", func(n *world) {
			n.pass(next.At)
			c, kind := n.see()
			n.looking, n.lookedAt, n.glimpse = true, epoch, View{Kind: kind}
			if kind == Shown {
				n.glimpse = n.view(c, n.ours)
			}
		})
		fault(label+", without a response", func(n *world) {
			n.pass(next.At)
			n.delivery = n.delivery.Looked(View{Kind: Unreachable}, epoch, epoch)
		})
		fault("the run is killed", func(n *world) { n.kill() })
	case Send:
		label := fmt.Sprintf("send subset %d", next.Subset)
		begin := func(n *world) {
			n.delivery = n.delivery.Sending(next.Subset)
			n.record = runlock.Record{At: epoch}
		}
		may(label, func(n *world) {
			begin(n)
			n.waiting = n.arrives(next.Subset)
		})
		fault(label+", which arrives when nobody waits any more", func(n *world) {
			begin(n)
			n.waiting = n.arrives(next.Subset)
			n.lose()
		})
		fault(label+", which never arrives", func(n *world) {
			begin(n)
			n.delivery = n.delivery.ResponseLost(epoch)
		})
		fault(label+", without a connection", func(n *world) { begin(n) })
	default:
		may(fmt.Sprintf("the run ends: %d %s", next.Do, next.State), func(n *world) {
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
// with it, for as long as MaxProcessing at most.
func (w *world) lose() {
	r := &w.work[w.waiting]
	r.lost, r.until = true, epoch.Add(modelProcessing)
	w.waiting = -1
	w.delivery = w.delivery.ResponseLost(epoch)
	w.record = runlock.Record{At: epoch}
}

func (w *world) kill() {
	if w.waiting >= 0 {
		w.lose()
	}
	w.begin(w.delivery.Subsets)
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
		w.delivery = w.delivery.ResponseLost(epoch)
		return
	}
	s := w.view(r.rendered, true)
	if s.Foreign || s.First != int(r.content)+1 {
		s = View{} // only a look can tell
	}
	w.delivery = w.delivery.Responded(s, epoch)
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
	shift(&w.delivery.Failing)
	shift(&w.delivery.Until)
	shift(&w.record.At)
	shift(&w.delivery.Left.At)
	for i := range w.work {
		shift(&w.work[i].until)
	}
}

// tidy makes worlds equal that differ in nothing that matters, and looks for
// what is wrong already.
func (w *world) tidy() {
	old := epoch.Add(-24 * time.Hour)
	if r, known := w.delivery.Record(); known && w.running && w.waiting < 0 {
		w.record = r
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
	for _, t := range []*time.Time{&w.delivery.Until, &w.record.At, &w.delivery.Left.At} {
		if !t.IsZero() && epoch.Sub(*t) > modelProcessing {
			*t = old
		}
	}
	switch {
	case w.doubled:
		w.wrong = "a subset is stored twice"
	case w.strayed:
		w.wrong = "a POST made a report of its own"
	case w.running:
	case w.result.Do == Stop && w.result.State == Disturbed:
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
		s := w.view(c, w.ours || w.result.State == Unclear)
		return kind == Shown && !s.Foreign && s.First == n
	}
	same := w.unknown || kind == Shown && c == w.before
	if kind != Shown && !w.died {
		return "the report is broken"
	}
	switch {
	case w.result.Do == Finish && !holds(d.Subsets):
		return "the run ended well, and the report is not complete"
	case w.result.Do == Finish || kind != Shown: // what a dead server left unreadable is not known
	case !d.Written && !same:
		return "nothing was sent, and the report changed"
	case w.result.State == Broken && kind == Shown:
		return "the report is not broken"
	case w.result.State == Incomplete && !holds(d.Stored):
		return fmt.Sprintf("not incomplete with %d", d.Stored)
	case w.result.State == Unclear && !holds(d.Stored) && !holds(d.Stored+1) && !(d.Stored == 0 && (same || holds(0))):
		return fmt.Sprintf("not unclear with %d", d.Stored)
	case d.Written && w.result.State == Untouched && !same:
		return "it was touched"
	}
	return ""
}

// afterwards runs again what did not end well, at once.
func (w *world) afterwards(may func(string, func(*world))) {
	const enough = 3 // attempts without a fault
	switch {
	case w.result.Do == Finish:
	case w.attempts < enough:
		may("the program runs again", func(n *world) {
			n.attempts++
			n.begin(n.delivery.Subsets)
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
	path := func(o origin) string {
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
					return len(seen), steps, path(o) + "\nWRONG: " + m.wrong
				}
				visit(m.world, o)
			}
		}
	}
	return len(seen), steps, ""
}
