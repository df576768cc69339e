package table

import (
	"encoding/csv"
	"errors"
	"io"
	"os"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
)

// usedColumns keeps rows in a temporary file until it is known which of the further columns have a cell, and
// leaves out the others.
type usedColumns struct {
	create func() (sheet.RowWriter, error)
	used   []bool // of columns, in the order of the cells

	file *os.File
	held *csv.Writer
	rows sheet.RowWriter // from Close on
}

// holdRows begins a table whose columns are always written up to the first and from the last of the further ones on.
func holdRows(first, last, all int, create func() (sheet.RowWriter, error)) (*usedColumns, error) {
	file, err := os.CreateTemp("", "datacite-table-*")
	if err != nil {
		return nil, err
	}
	u := &usedColumns{create: create, used: make([]bool, all), file: file, held: csv.NewWriter(file)}
	for i := range u.used {
		u.used[i] = i < first || i >= last
	}
	return u, nil
}

// head writes the names of the columns.
func (u *usedColumns) head(names []string) error { return u.held.Write(names) }

func (u *usedColumns) Write(cells []string) error {
	for i, cell := range cells {
		u.used[i] = u.used[i] || cell != ""
	}
	return u.held.Write(cells)
}

// Close writes the table.
func (u *usedColumns) Close() (err error) {
	u.held.Flush()
	if err = u.held.Error(); err == nil {
		_, err = u.file.Seek(0, io.SeekStart)
	}
	if err == nil {
		u.rows, err = u.create()
	}
	if err != nil {
		return err
	}
	held := csv.NewReader(u.file)
	held.ReuseRecord = true
	for {
		cells, err := held.Read()
		if err == io.EOF {
			return errors.Join(u.rows.Close(), u.discard())
		}
		if err != nil {
			return err
		}
		var row []string
		for i, cell := range cells {
			if u.used[i] {
				row = append(row, cell)
			}
		}
		if err := u.rows.Write(row); err != nil {
			return err
		}
	}
}

// discard removes the temporary file.
func (u *usedColumns) discard() error {
	if u.file == nil {
		return nil
	}
	file := u.file
	u.file = nil
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
