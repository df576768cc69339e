package search

// node is a part of a query that a record matches or not. A nil node is a
// clause with nothing to search for, such as a word of only punctuation in a
// text field; it is left out of its list.
type node interface {
	find(ix *Index) Found
}

// Found are the records that match, and how well each of them does.
type Found struct {
	Set
	Score func(n int) float64
}

// one is the score of a clause.
func one(int) float64 { return 1 }

type occur uint8

const (
	should occur = iota
	must
	mustNot
)

type clause struct {
	occur occur
	node  node
}

func appendClause(clauses []clause, o occur, n node) []clause {
	if n == nil {
		return clauses
	}
	return append(clauses, clause{o, n})
}

// group is a flat list of clauses: all of must, none of mustNot, and one of
// should if must is empty. With only mustNot it matches all other records.
type group struct {
	must, should, mustNot []node
}

func newGroup(clauses []clause) node {
	if len(clauses) == 0 {
		return nil
	}
	if len(clauses) == 1 && clauses[0].occur != mustNot {
		return clauses[0].node
	}
	g := &group{}
	for _, c := range clauses {
		switch c.occur {
		case must:
			g.must = append(g.must, c.node)
		case mustNot:
			g.mustNot = append(g.mustNot, c.node)
		default:
			g.should = append(g.should, c.node)
		}
	}
	return g
}

func (g *group) find(ix *Index) Found {
	var counting []Found // clauses that raise the score
	found := ix.Live()
	for _, n := range g.must {
		all := n.find(ix)
		found.And(all.Set)
		counting = append(counting, all)
	}
	optional := ix.empty()
	for _, n := range g.should {
		some := n.find(ix)
		optional.Or(some.Set)
		counting = append(counting, some)
	}
	if len(g.must) == 0 && len(g.should) > 0 {
		found.And(optional)
	}
	for _, n := range g.mustNot {
		found.Without(n.find(ix).Set)
	}
	return Found{found, func(n int) (score float64) {
		for _, c := range counting {
			if c.Has(n) {
				score += c.Score(n)
			}
		}
		return score
	}}
}

// best is one clause in several fields: the best match counts.
type best []node

func (b best) find(ix *Index) Found {
	found := ix.empty()
	var each []Found
	for _, n := range b {
		some := n.find(ix)
		found.Or(some.Set)
		each = append(each, some)
	}
	return Found{found, func(n int) (score float64) {
		for _, some := range each {
			if some.Has(n) {
				score = max(score, some.Score(n))
			}
		}
		return score
	}}
}

type boost struct {
	node node
	by   float64
}

// boosted multiplies the score of a clause.
func boosted(n node, by float64) node {
	if n == nil || by == 1 {
		return n
	}
	return boost{n, by}
}

func (b boost) find(ix *Index) Found {
	found := b.node.find(ix)
	return Found{found.Set, func(n int) float64 { return found.Score(n) * b.by }}
}

type everything struct{}

func (everything) find(ix *Index) Found { return Found{ix.Live(), one} }

// exists are the records with any value in a field.
type exists struct{ field field }

func (e exists) find(ix *Index) Found {
	found := ix.empty()
	if c := ix.root.at(e.field.path); c != nil {
		found.addAll(c.having)
		return Found{found, one}
	}
	for n := range ix.live.All() {
		if reach(ix.Record(n), e.field.path, hasValue) {
			found.Add(n)
		}
	}
	return Found{found, one}
}

// inField are the records with such a term in a field.
type inField struct {
	field field
	is    string            // the term
	test  func(string) bool // in place of is, says whether a term is one of them
}

func (f inField) find(ix *Index) Found {
	terms := ix.termsOf(f.field)
	found := ix.empty()
	switch {
	case terms == nil:
		found = ix.scan(ix.live, f.field, f.matches)
	case f.test == nil:
		found.addAll(terms[f.is])
	default:
		for term, having := range terms {
			if f.test(term) {
				found.addAll(having)
			}
		}
	}
	return Found{found, one}
}

// matches says whether a value has such a term.
func (f inField) matches(value string) bool {
	for term := range f.field.kind.form().termsOf(value) {
		if f.test == nil && term == f.is || f.test != nil && f.test(term) {
			return true
		}
	}
	return false
}

// phrase are the records with words side by side in a field, see isPhrase. The index says which records have the words.
type phrase struct {
	field field
	words []string
	slop  int
}

func (p phrase) find(ix *Index) Found {
	found := ix.Live()
	for _, word := range p.words {
		found.And(inField{field: p.field, is: word}.find(ix).Set)
	}
	return Found{ix.scan(found, p.field, func(s string) bool { return isPhrase(s, p.words, p.slop) }), one}
}
