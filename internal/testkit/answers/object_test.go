package answers

import "testing"

func TestObjectKeepsItsOrder(t *testing.T) {
	o := Object{{"b", 1}, {"a", []Object{{{"z", "<&>\"ü\n"}}}}, {"c", nil}}
	changed := o.With("b", 2).With("d", []any{true, Object{}}).Without("c", "nothing")
	if got, want := string(Encode(changed)), `{"b":2,"a":[{"z":"<&>\"ü\n"}],"d":[true,{}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := string(Encode(o)); got != `{"b":1,"a":[{"z":"<&>\"ü\n"}],"c":null}` || !o.Has("c") || o.Has("d") || o.Get("b") != 1 {
		t.Errorf("the copies changed the original: %s", got)
	}
}
