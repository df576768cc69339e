package dois

// A Facet is what the service counts in all results: the records with each value, or one
// number.
type Facet struct {
	Counts []FacetCount
	Number int // such as the sum of citationCount; 0 if there are Counts
}

// A FacetCount is the number of records with one value. The same ID may occur
// more than once; see [Facet.Count].
type FacetCount struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Count int    `json:"count"`
}

// Count returns the number of records with a value: all its entries added up.
func (f Facet) Count(id string) int {
	sum := 0
	for _, c := range f.Counts {
		if c.ID == id {
			sum += c.Count
		}
	}
	return sum
}
