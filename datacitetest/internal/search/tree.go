package search

// node is a part of a query that a record matches or not. A nil node is a
// clause with nothing to search for, such as a word of only punctuation in a
// text field; it is left out of its list.
type node interface {
	match(record map[string]any) (score float64, ok bool)
}

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

func (g *group) match(record map[string]any) (float64, bool) {
	score := 0.0
	for _, n := range g.must {
		s, ok := n.match(record)
		if !ok {
			return 0, false
		}
		score += s
	}
	for _, n := range g.mustNot {
		if _, ok := n.match(record); ok {
			return 0, false
		}
	}
	found := len(g.must) > 0 || len(g.should) == 0
	for _, n := range g.should {
		if s, ok := n.match(record); ok {
			score += s
			found = true
		}
	}
	return score, found
}

// best is one clause in several fields: the best match counts.
type best []node

func (b best) match(record map[string]any) (float64, bool) {
	top, found := 0.0, false
	for _, n := range b {
		if s, ok := n.match(record); ok {
			top, found = max(top, s), true
		}
	}
	return top, found
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

func (b boost) match(record map[string]any) (float64, bool) {
	s, ok := b.node.match(record)
	return s * b.by, ok
}

type everything struct{}

func (everything) match(map[string]any) (float64, bool) { return 1, true }

// inField is a test of the values of one field.
type inField struct {
	field field
	test  test
}

func (n inField) match(record map[string]any) (float64, bool) {
	if reach(record, n.field.path, n.test) {
		return 1, true
	}
	return 0, false
}
