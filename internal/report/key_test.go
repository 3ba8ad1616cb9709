package report

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

var noon = time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC) // a Wednesday

func TestSpentSumsByCalendar(t *testing.T) {
	days := []activity.Day{
		{Date: "2026-03-18", CostNano: 1}, {Date: "2026-03-18", CostNano: 2}, // today
		{Date: "2026-03-16", CostNano: 10}, // Monday
		{Date: "2026-03-15", CostNano: 100},
		{Date: "2026-03-01", CostNano: 1000},
		{Date: "2026-02-28", CostNano: 10000},
	}
	all, day, week, month := spent(days, noon)
	if all != 11113 || day != 3 || week != 13 || month != 1113 {
		t.Errorf("all %d, day %d, week %d, month %d", all, day, week, month)
	}
	sunday := time.Date(2026, 3, 22, 23, 59, 0, 0, time.UTC)
	if _, day, week, _ = spent(days, sunday); day != 0 || week != 13 {
		t.Errorf("on Sunday: day %d, week %d", day, week)
	}
	first := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC) // the week began in March
	days = append(days, activity.Day{Date: "2026-03-30", CostNano: 5})
	if _, _, week, month = spent(days, first); week != 5 || month != 0 {
		t.Errorf("on the first of April: week %d, month %d", week, month)
	}
}
