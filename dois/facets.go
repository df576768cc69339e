package dois

// A Facet is a summary of all results by the service: the number of records for each value,
// or a single number.
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
