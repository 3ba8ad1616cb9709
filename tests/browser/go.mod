// Tests of the console in real browsers. A module of its own: nothing that drives a browser is a
// dependency of the product.
module github.com/gatehouse-proxy/gatehouse/tests/browser

go 1.26.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/coder/websocket v1.8.15
	github.com/gatehouse-proxy/gatehouse v0.0.0
)

require github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect

replace github.com/gatehouse-proxy/gatehouse => ../..
