"""Drawing outside the website's interpreter: what is asked, the processes that draw, and the pool that keeps them."""
