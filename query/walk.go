package query

import "iter"

// Walk returns the nodes of expr, each before what is inside it, in the order
// of the text. The Field of a node is the one it is searched in, also where
// the brackets around it name it.
func Walk(expr Expr) iter.Seq[Node] {
	return func(yield func(Node) bool) { walk(expr, "", yield) }
}

func walk(expr Expr, field Field, yield func(Node) bool) bool {
	n := inspect(expr, field)
	if !yield(n) {
		return false
	}
	for _, c := range n.Clauses {
		if !walk(c.Expr, n.Field, yield) {
			return false
		}
	}
	return true
}

func inspect(expr Expr, field Field) Node {
	n := Inspect(expr)
	if n.Field == "" && n.Kind != KindAll {
		n.Field = field
	}
	return n
}

// Rewrite returns expr with nodes replaced. It calls change for every node,
// first for what is inside it, with the node as [Walk] gives it. What change
// returns takes the place of the node; nil leaves the node as it is.
//
//	// Let people write title: for titles.title:
//	query.Rewrite(expr, func(n query.Node) query.Expr {
//		if n.Field != "title" {
//			return nil
//		}
//		n.Field = query.FieldTitle
//		return n.Expr()
//	})
func Rewrite(expr Expr, change func(Node) Expr) Expr { return rewrite(expr, "", change) }

func rewrite(expr Expr, field Field, change func(Node) Expr) Expr {
	n := inspect(expr, field)
	changed := false
	for i, c := range n.Clauses {
		e := rewrite(c.Expr, n.Field, change)
		if e == c.Expr {
			continue
		}
		n.Clauses[i].Expr = part(e, c.Expr)
		changed = true
	}
	if e := change(n); e != nil {
		return e
	}
	if changed {
		n.Field = expr.tree().Field
		return n.Expr()
	}
	return expr
}

// part is new as a clause instead of old. A word must not become the
// neighbour of other words when the old clause was none.
func part(replacement, old Expr) Expr {
	e := operand(replacement)
	if isBareWord(e) && !isBareWord(old) {
		return bracket(e)
	}
	return e
}
