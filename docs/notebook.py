# %% [markdown]
# # Candles and results in a notebook
#
# Needs pandas and pyarrow: `pip install pandas pyarrow`. Make the two inputs first:
#
#     bot candles export --synthetic --market BTC-EUR --interval 1h --out candles.parquet
#     bot backtest --parquet --out result

# %%
import pandas as pd

candles = pd.read_parquet("candles.parquet").set_index("time")
print(candles.describe())

# %% [markdown]
# ## Days of the candles

# %%
days = candles.resample("1D").agg({"open": "first", "high": "max", "low": "min", "close": "last", "volume": "sum"})
print(days.tail())

# %% [markdown]
# ## Equity and drawdown of a backtest

# %%
equity = pd.read_parquet("result/equity.parquet").set_index("time")
drawdown = 1 - equity["equity"] / equity["equity"].cummax()
print(f"final equity {equity['equity'].iloc[-1]:,.2f}, largest drawdown {drawdown.max():.2%}")

# %% [markdown]
# ## Trades by reason of their exit

# %%
trades = pd.read_parquet("result/trades.parquet")
trades["duration"] = trades["exit_time"] - trades["entry_time"]
print(trades.groupby("reason")["pnl"].agg(["count", "sum", "mean"]))
print(trades["duration"].describe())
