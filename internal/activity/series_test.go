package activity_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
)

func TestSeriesQueriesAreChecked(t *testing.T) {
	for q, want := range map[string]string{
		"by=user": "by must be model, key", "step=week": "step must be minute, hour or day", "top=0": "top must be a number", "top=51": "top must be",
		"from=2026-05-04&to=2026-05-01": "to must be after from", "step=hour&from=2026-01-01&to=2026-05-01": "an answer has at most 800",
		"step=minute&from=2026-05-04T00:00:00Z&to=2026-05-04T06:01:00Z": "an answer has at most 360", "from=x": "from must be", "by=key&by=model": "by must be given once",
	} {
		values, _ := url.ParseQuery(q)
		_, err := activity.ParseSeries(values, activitytest.Noon)
		if param := (*activity.ParamError)(nil); !errors.As(err, &param) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", q, err)
		}
	}
	got, err := activity.ParseSeries(url.Values{"step": {"hour"}}, activitytest.Noon)
	if err != nil || !got.From.Equal(activitytest.Noon.Truncate(time.Hour).Add(-23*time.Hour)) || !got.To.Equal(activitytest.Noon.Truncate(time.Hour).Add(time.Hour)) {
		t.Errorf("the default time is %v to %v, %v", got.From, got.To, err)
	}
	got, err = activity.ParseSeries(url.Values{"step": {"minute"}}, activitytest.Noon)
	if minute := activitytest.Noon.Truncate(time.Minute); err != nil || !got.From.Equal(minute.Add(-59*time.Minute)) || !got.To.Equal(minute.Add(time.Minute)) {
		t.Errorf("the default time is %v to %v, %v", got.From, got.To, err)
	}
}
