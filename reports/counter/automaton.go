package counter

// An automaton finds texts in another one, without the case of ASCII letters, in
// one pass whatever their number (Aho and Corasick, 1975).
type automaton struct {
	class [256]uint8 // of a byte; 0 if no text has it
	width int        // number of classes
	next  []int32    // the state after a state and a class; marked if texts end in it
	found [][]int    // the texts that end in a state
}

// marked is a bit of a state in which texts end.
const marked = 1 << 30

// newAutomaton makes one that finds texts in lower case. Empty ones are not found.
func newAutomaton(texts []string) automaton {
	a := automaton{width: 1, found: [][]int{nil}}
	for _, text := range texts {
		for _, b := range []byte(text) {
			if a.class[b] == 0 {
				a.class[b] = uint8(a.width)
				a.width++
			}
		}
	}
	for b := byte('a'); b <= 'z'; b++ {
		a.class[b-'a'+'A'] = a.class[b]
	}
	a.next = make([]int32, a.width)
	for i, text := range texts {
		state := int32(0)
		for _, b := range []byte(text) {
			way := &a.next[int(state)*a.width+int(a.class[b])]
			if *way == 0 {
				*way = int32(len(a.found))
				a.found = append(a.found, nil)
				a.next = append(a.next, make([]int32, a.width)...)
				way = &a.next[int(state)*a.width+int(a.class[b])]
			}
			state = *way
		}
		if text != "" {
			a.found[state] = append(a.found[state], i)
		}
	}
	a.link()
	for i, state := range a.next {
		if len(a.found[state]) > 0 {
			a.next[i] = state | marked
		}
	}
	return a
}

// link fills in the ways out of each state that no text begins with: they are those
// of the longest other state that the text so far ends with.
func (a *automaton) link() {
	other := make([]int32, len(a.found))
	queue := []int32{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		a.found[state] = append(a.found[state], a.found[other[state]]...)
		for class := range a.width {
			way := &a.next[int(state)*a.width+class]
			fall := a.next[int(other[state])*a.width+class]
			switch {
			case *way == 0:
				*way = fall
			default:
				if state != 0 {
					other[*way] = fall
				}
				queue = append(queue, *way)
			}
		}
	}
}

// find calls yield with the texts that are found, at each place where some are, until it
// returns true; it returns that.
func (a *automaton) find(text string, yield func([]int) bool) bool {
	state := int32(0)
	for i := range len(text) {
		state = a.next[int(state)*a.width+int(a.class[text[i]])]
		if state&marked != 0 {
			if state &^= marked; yield(a.found[state]) {
				return true
			}
		}
	}
	return false
}
