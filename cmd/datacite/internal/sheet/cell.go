package sheet

import (
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
)

// columnOf returns the column, from 0, of a cell such as AB12. It must be in its row, and
// not before next. A cell without a reference is the next one.
func columnOf(ref string, row, next int) (column int, ok bool) {
	if ref == "" {
		return next, next < maxColumns
	}
	letters := strings.TrimRight(ref, "0123456789")
	if ref[len(letters):] != strconv.Itoa(row) || letters == "" || len(letters) > 3 {
		return 0, false
	}
	for _, c := range []byte(letters) {
		if c < 'A' || c > 'Z' {
			return 0, false
		}
		column = column*26 + int(c-'A') + 1
	}
	column--
	return column, column >= next && column < maxColumns
}

// nameOf is the inverse of [columnOf].
func nameOf(column, row int) string {
	letters := ""
	for column++; column > 0; column = (column - 1) / 26 {
		letters = string(rune('A'+(column-1)%26)) + letters
	}
	return letters + strconv.Itoa(row)
}

// readCell returns the text of the cell that has begun.
func (b *workbook) readCell(start xml.StartElement, at int) (string, error) {
	var value, inline string
	var hasValue, hasFormula bool
	for {
		token, err := b.xml.next()
		if err != nil {
			return "", err
		}
		switch e := token.(type) {
		case xml.EndElement:
			if hasFormula && !hasValue {
				return "", errors.New("its formula has no result; open the file in a spreadsheet program, and save it again")
			}
			return b.value(attribute(start, "t"), attribute(start, "s"), value, inline, at)
		case xml.CharData:
			if !blank(e) {
				return "", fmt.Errorf("it has the text %.20q outside its value", e)
			}
		case xml.StartElement:
			switch e.Name.Local {
			case "v":
				hasValue = true
				value, err = b.xml.text()
			case "is":
				inline, err = b.xml.richText()
			case "f":
				hasFormula = true
				err = b.xml.skip()
			case "extLst":
				err = b.xml.skip()
			default:
				err = fmt.Errorf("it has an element %.20q", e.Name.Local)
			}
			if err != nil {
				return "", err
			}
		}
	}
}

// value is the text of a cell of a type.
func (b *workbook) value(kind, style, value, inline string, at int) (string, error) {
	switch kind {
	case "s":
		return b.shared.get(value)
	case "str":
		return unescaped(value), nil
	case "inlineStr":
		return inline, nil
	case "b":
		if value != "" {
			return strings.ToUpper(strconv.FormatBool(truth(value))), nil
		}
		return "", nil
	case "d":
		return strings.TrimSuffix(value, "T00:00:00"), nil
	case "e":
		return "", fmt.Errorf("it has the error %.20s", value)
	case "", "n":
		return b.number(style, value, at)
	}
	return "", fmt.Errorf("its type is %.20q", kind)
}

// number is the text of a number, which its style may make a date.
func (b *workbook) number(style, value string, at int) (string, error) {
	if value = strings.TrimSpace(value); value == "" {
		return "", nil
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(number, 0) || math.IsNaN(number) || strings.ContainsAny(value, "_xXpP") {
		return "", fmt.Errorf("its value %.20q is not a number", value)
	}
	text := plainNumber(number)
	if style == "" {
		return text, nil
	}
	i, err := strconv.Atoi(style)
	if err != nil || i < 0 || i >= max(len(b.styles), 1) {
		return "", fmt.Errorf("there is no style %.20q", style)
	}
	if i >= len(b.styles) || b.styles[i] == lookPlain {
		return text, nil
	}
	date := b.epoch.date(number, b.styles[i])
	if date == "" {
		return text, nil
	}
	if b.numbers == nil {
		b.numbers = map[int]string{}
	}
	b.numbers[at] = text
	return date, nil
}

// plainNumber has the 15 digits that spreadsheet programs calculate with.
func plainNumber(number float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(number, 'g', 15, 64), 64)
	if err != nil {
		rounded = number
	}
	const wide = 1e15
	if abs := math.Abs(rounded); abs >= wide || abs > 0 && abs < 1/wide {
		return strconv.FormatFloat(rounded, 'g', -1, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// A look is what the format of a number shows.
type look int

const (
	lookPlain look = iota
	lookDate
	lookTime // without a day
)

// builtIn are the formats that have a number and no code: ECMA-376, part 1, 18.8.30. Those
// from 27 on are of East Asia.
var builtIn = func() map[string]look {
	all := map[string]look{}
	for _, span := range []struct {
		from, to int
		look     look
	}{
		{14, 17, lookDate}, {18, 21, lookTime}, {22, 22, lookDate}, {27, 31, lookDate},
		{32, 35, lookTime}, {36, 36, lookDate}, {45, 47, lookTime}, {50, 58, lookDate},
	} {
		for id := span.from; id <= span.to; id++ {
			all[strconv.Itoa(id)] = span.look
		}
	}
	return all
}()

// notShown are the parts of a format that stand for themselves, and what follows the format of
// positive numbers.
var notShown = lazy.Regexp(`"[^"]*"?|\[[^\]]*\]?|[\\_*].|;.*|General`)

// lookOf is the look of a format with a code such as yyyy-mm-dd.
func lookOf(code string) look {
	code = strings.ToLower(notShown().ReplaceAllString(code, ""))
	isTime := strings.ContainsAny(code, "hs")
	switch {
	case strings.ContainsAny(code, "yd"), strings.Contains(code, "m") && !isTime:
		return lookDate
	case isTime:
		return lookTime
	}
	return lookPlain
}

// An epoch is the day from which a workbook counts.
type epoch struct{ since1904 bool }

// date is a number of days as ISO 8601, "" if it is none. The day 60 of 1900 never was.
func (e epoch) date(days float64, as look) string {
	const last = 2958466 // the year 10000
	switch {
	case days < 0 || days >= last:
		return ""
	case as == lookTime && days >= 1:
		return "" // a duration
	}
	zero := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case e.since1904:
		zero = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days >= 60 && days < 61:
		return ""
	case days < 60:
		zero = zero.AddDate(0, 0, 1)
	}
	const day = 24 * time.Hour
	whole, part := math.Modf(days)
	at := zero.AddDate(0, 0, int(whole)).Add(time.Duration(part * float64(day)).Round(time.Second))
	switch {
	case as == lookTime:
		return at.Format(time.TimeOnly)
	case at.Hour()+at.Minute()+at.Second() == 0:
		return at.Format(time.DateOnly)
	}
	return at.Format("2006-01-02T15:04:05")
}
