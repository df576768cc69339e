package reports

import (
	"fmt"
	"slices"
)

// bounded has the metrics, each one before those that bound it.
var bounded = []MetricType{UniqueDatasetRequests, TotalDatasetRequests, UniqueDatasetInvestigations, TotalDatasetInvestigations}

// impossible calls report for counts of a month that cannot be: for one access method,
// more unique than total ones, or more requests than investigations. A metric that is
// not there bounds nothing.
func impossible(instances []Instance, report func(reason string)) {
	type sum struct {
		count int64
		there bool
	}
	var sums [2][4]sum
	for i := range instances {
		n := &instances[i]
		access, metric := slices.Index(accessMethods, n.AccessMethod), slices.Index(bounded, n.MetricType)
		if access >= 0 && metric >= 0 {
			s := &sums[access][metric]
			s.count, s.there = s.count+n.Count, true
		}
	}
	for access, s := range sums {
		for _, pair := range [...][2]int{{0, 1}, {2, 3}, {0, 2}, {1, 3}} {
			less, more := s[pair[0]], s[pair[1]]
			if less.there && more.there && less.count > more.count {
				report(fmt.Sprintf("cannot be: %s (%s) is %d, more than %s, which is %d",
					bounded[pair[0]], accessMethods[access], less.count, bounded[pair[1]], more.count))
			}
		}
	}
}

// impossible looks at the counts of a dataset and a month.
func (v *validator) impossible(d *Dataset, instances []Instance) {
	report := v.fault
	switch {
	case v.possible:
	case v.warn != nil:
		report = v.warning
	default:
		return
	}
	v.place.instance = -1
	impossible(instances, func(reason string) {
		var name string
		if len(d.DatasetID) > 0 {
			name = d.DatasetID[0].Value
		}
		report("instance", "inconsistent", fmt.Sprintf("of %.100q %s", name, reason))
	})
}

var accessMethods = []AccessMethod{Regular, Machine}
