package desktop_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func TestTheEndOfAPersonsSessionGivesTheInputBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes []string
		d := shared(t, func(c *desktop.Config) {
			c.ReturnAfter = time.Minute
			c.Emit = func(event string, data map[string]any) {
				if event == desktop.EventControl {
					changes = append(changes, data["holder"].(string)+" "+data["session"].(string))
				}
			}
		})
		agent, first, second := agentOf(t, d, "bot"), personOf(t, d, "dev"), personOf(t, d, "dev")
		first.Input.Press()
		if _, err := d.Input.Take(dev, "desk1", second.ID); err != nil { // it moves from one to the other
			t.Fatal(err)
		}
		first.Leave()
		wantHeld(t, act(agent), "human", "dev")
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := act(agent); err != nil {
			t.Error(err)
		}
		second.Input.Press()
		second.Leave()
		if err := act(agent); err != nil {
			t.Error(err)
		}
		agent.Leave()
		want := []string{
			"human " + first.ID, "human " + second.ID, "none " + second.ID, "agent " + agent.ID,
			"human " + second.ID, "none " + second.ID, "agent " + agent.ID, "none " + agent.ID,
		}
		if !slices.Equal(changes, want) {
			t.Errorf("events %v, want %v", changes, want)
		}
	})
}
