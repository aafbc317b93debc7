// Command healthy says that it is well, in the place of a server that is too large to be had in tests.
package main

import (
	"log"
	"net/http"
)

func main() {
	http.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe(":5000", nil))
}
