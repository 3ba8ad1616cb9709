package console

import "net/url"

// maxExport is how many rows an export has at most; see docs/api.md.
const maxExport = 1_000_000

// activityFile is the list as a file.
type activityFile struct {
	Href string
	Rows int64 // -1: unknown
	Over bool  // more than an export may have
}

// file is the list with its filters as CSV, with how many rows it has.
func (p *activityPage) file(v *visit, s *span) activityFile {
	f := activityFile{Href: Prefix + "/activity.csv?" + activityQuery(v, s).Encode(), Rows: -1}
	if p.Total != nil {
		f.Rows, f.Over = p.Total.Requests, p.Total.Requests > maxExport
	}
	return f
}

// activityCSV is the list as a file. The URL has the time and the filters as the route takes them.
func activityCSV(v *visit) error {
	q := url.Values{"format": {"csv"}}
	for _, name := range append(activityFilterNames(), "from", "to") {
		setParam(q, name, v.query.Get(name))
	}
	return v.download("/api/v1/activity", q, "gatehouse-activity.csv")
}

// setParam sets a parameter that is not empty.
func setParam(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}
