package reports

import (
	"bufio"
	"io"
	"iter"
)

// WriteFile writes a report in the form that [ReadFile] reads, dataset by dataset. An error of
// the source or of w ends it, and what was written until then is not a report.
func WriteFile(w io.Writer, h Header, datasets iter.Seq2[Dataset, error]) error {
	to := bufio.NewWriterSize(w, 64<<10) // it keeps its first error
	header, err := h.MarshalJSON()
	if err != nil {
		return err
	}
	to.WriteString(`{"report-header":`)
	to.Write(header)
	to.WriteString(`,"report-datasets":[`)
	before, entry := "\n", []byte(nil)
	for d, err := range datasets {
		if err == nil {
			entry, err = appendDataset(entry[:0], &d)
		}
		if err != nil {
			return err
		}
		to.WriteString(before)
		if _, err := to.Write(entry); err != nil {
			return err
		}
		before = ",\n"
	}
	to.WriteString("\n]}\n")
	return to.Flush()
}
