package activity

import (
	"reflect"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// Each field of Record is in the list once, with a name of its own.
func TestTheListHasEachFieldOfARecord(t *testing.T) {
	var r Record
	names, fields := map[string]bool{}, map[uintptr]string{}
	for _, f := range Fields {
		if !f.Empty(&r) || names[f.Name] {
			t.Errorf("%s: twice, or not empty", f.Name)
		}
		names[f.Name] = true
		fields[reflect.ValueOf(f.Of(&r)).Pointer()] = f.Name
	}
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		if fields[v.Field(i).Addr().Pointer()] == "" {
			t.Errorf("%s is not in Fields", v.Type().Field(i).Name)
		}
	}
	if want := v.NumField() - 1 + units.Number; len(Fields) != want { // each unit is one
		t.Errorf("the list has %d fields, a record %d", len(Fields), want)
	}
}
