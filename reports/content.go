package reports

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"iter"
)

// A contentSum tells sets of datasets apart without regard to their order: how
// many there are, and the sum of the SHA-256 of each, in four lanes.
type contentSum struct {
	datasets int64
	lanes    [4]uint64
}

// add adds a dataset, as it would be sent. It makes the entry in the memory of
// the last one.
func (c *contentSum) add(d *Dataset, entry *[]byte) (err error) {
	if *entry, err = appendDataset((*entry)[:0], d); err != nil {
		return err
	}
	sum := sha256.Sum256(*entry)
	for i := range c.lanes {
		c.lanes[i] += binary.LittleEndian.Uint64(sum[8*i:])
	}
	c.datasets++
	return nil
}

// holdsContent reads the stored datasets and tells how many of the planned
// subsets they are, if they are those of the first ones and nothing else; 0 if
// not. It serves a service that shows no subsets, and subsets that another
// release of a compressor made: those are returned.
func (s *submission) holdsContent(ctx context.Context) (first int, held []Subset, err error) {
	r, err := s.client.open(ctx, "reports.Submit", s.id, nil)
	if err != nil {
		return 0, nil, err
	}
	defer r.Close()
	stored, err := sumOf(r.Scan())
	switch c := r.closer.(*connection); {
	case err != nil && c.broken.Load():
		return 0, nil, err
	case err != nil:
		return 0, nil, nil // damaged data are not ours
	}
	var planned contentSum
	for i := range s.plan {
		if planned.datasets >= stored.datasets {
			break
		}
		part, err := s.sum(i)
		if err != nil {
			return 0, nil, err
		}
		planned.datasets += part.datasets
		for lane := range planned.lanes {
			planned.lanes[lane] += part.lanes[lane]
		}
		if planned == stored {
			return i + 1, r.Subsets, nil
		}
	}
	return 0, nil, nil
}

// sum is that of planned subset i, worked out once, from the spooled body.
func (s *submission) sum(i int) (contentSum, error) {
	for len(s.sums) <= i {
		r, err := NewReader(s.body(len(s.sums)))
		if err != nil {
			return contentSum{}, err
		}
		sum, err := sumOf(r.Scan())
		if err != nil {
			return contentSum{}, err
		}
		s.sums = append(s.sums, sum)
	}
	return s.sums[i], nil
}

func sumOf(datasets iter.Seq2[*Dataset, error]) (sum contentSum, err error) {
	var entry []byte
	for d, err := range datasets {
		if err != nil {
			return sum, err
		}
		if err := sum.add(d, &entry); err != nil {
			return sum, err
		}
	}
	return sum, nil
}
