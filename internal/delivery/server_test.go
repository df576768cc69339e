package delivery

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const foreignContent = 4 // a subset that is not in the plan; 0 to 3 are

// contents counts subsets by content.
type contents [5]uint8

// A server holds one report as the deployed service does (rows and document) or
// as the specification says (rows alone). The evidence for the steps of a request
// is in datacitetest/evidence/deployed-reports.md.
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
	rendered contents // the response, and the document to be
	lost     bool     // nobody waits for the response
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

func (s *server) see() (c contents, kind Kind) {
	switch {
	case !s.exists:
		return c, Shown
	case !s.deployed || !s.attached:
		for _, r := range s.rows {
			if r.used && s.deployed && !r.bytes {
				return c, Unreachable // a failure without a name
			}
			if r.used {
				c[r.content]++
			}
		}
		return c, Shown
	case !s.file || !s.consistent():
		return c, Unreadable
	}
	return s.document, Shown
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

// busy tells whether the service works on something.
func (s *server) busy() bool {
	return s.work[0].used || s.work[1].used || s.work[2].used
}

func (r *request) name() string {
	return fmt.Sprintf("%s of subset %d, step %d", map[bool]string{true: "PUT", false: "POST"}[r.put], r.content, r.step)
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
	require.Equal(t, Shown, kind, "seen before its document is written")
	require.Equal(t, contents{0: 1}, c)
	upTo(start(false, 1), reply)
	c, kind = s.see()
	require.Equal(t, Shown, kind)
	require.Equal(t, contents{0: 1, 1: 1}, c)
	upTo(put, reply)
	_, kind = s.see()
	require.Equal(t, Unreadable, kind, "the late document lacks the other subset")
}
