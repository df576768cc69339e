package reports

// NewHeader returns the header of a dataset report of one month (specification §2.1): with
// the name "Dataset Report", the report-id "dsr" and the release [ReleaseRD1]. createdBy is
// the name of the platform or repository, and created the day on which the report is made,
// such as Day(time.Now()). Together, createdBy and the first day of the period identify the
// report. NewHeader checks nothing; [Report.Validate] and the methods that send do.
func NewHeader(createdBy string, created Date, period Period) Header {
	return Header{
		ReportName: "Dataset Report", ReportID: "dsr", Release: ReleaseRD1,
		CreatedBy: createdBy, Created: created, ReportingPeriod: period,
	}
}
